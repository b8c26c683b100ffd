package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// mount mounts a file system of a few KiB in memory.
func mount(t *testing.T, options string) (dir string) {
	t.Helper()
	require(t, os.Geteuid() == 0, "root, to mount a small file system")
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		require(t, false, "the right to mount: "+string(out))
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestReadOnlyFileSystemIsRefused(t *testing.T) {
	dir := mount(t, "size=1m,ro")
	if err := refused(t, sqlite.New(quiet), config(filepath.Join(dir, "anarchon.db"))); !strings.Contains(err.Error(), "must be able to write") {
		t.Errorf("got %q; want what the plugin lacks", err)
	}
}

func TestFullDiskIsCapacityAndHeals(t *testing.T) {
	dir := mount(t, "size=400k")
	path := filepath.Join(dir, "anarchon.db")
	s := openStore(t, path)
	var won []pluginapi.Claim
	var refusal error
	var refusedClaim pluginapi.Claim
	for i := 0; refusal == nil; i++ {
		c := newClaim("job-" + strconv.Itoa(i))
		results, err := s.Claim(t.Context(), []pluginapi.Claim{c})
		switch {
		case err != nil:
			refusal, refusedClaim = err, c
		case results[0].Verdict != pluginapi.Won:
			t.Fatalf("claim %d: %+v", i, results[0])
		default:
			won = append(won, c)
		}
	}
	expectCode(t, refusal, pluginapi.Capacity, "disk is full")
	for _, c := range won {
		expect(t, s, rival(c), pluginapi.Running) // reading goes on
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size=8m", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	expect(t, s, rival(refusedClaim), pluginapi.Won) // capacity: nothing was written
	for _, c := range won {
		expect(t, s, c, pluginapi.Won)
	}
	var verdict string
	if err := raw(t, path, "").QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
}
