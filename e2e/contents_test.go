//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sqlite runs SQL on the cluster's database with a client that isn't ours.
func (c *cluster) sqlite(sql string) string {
	c.t.Helper()
	out, err := exec.Command("sqlite3", "-cmd", ".timeout 5000", c.database(), sql).CombinedOutput()
	if err != nil {
		c.t.Fatalf("sqlite3 %q: %v\n%s", sql, err, out)
	}
	return strings.TrimSpace(string(out))
}

const everySecond = `job "tick" {
  every = "1s"
  exec {
    command = ` + stampCommand + `
  }
}
`

// refused starts an agent that must end by itself, and returns what it said.
func (c *cluster) refused() string {
	c.t.Helper()
	i := c.start("refused")
	select {
	case <-i.done:
	case <-time.After(30 * time.Second):
		c.t.Fatalf("the agent didn't refuse the store:\n%s", tail(i.log, 3000))
	}
	if code := i.cmd.ProcessState.ExitCode(); code <= 0 {
		c.t.Errorf("exit code %d, want above 0", code)
	}
	return tail(i.log, 10000)
}

func TestNewerSchemaIsRefused(t *testing.T) {
	c := newCluster(t, everySecond)
	c.startAll(1)[0].stop(20 * time.Second)
	c.sqlite("PRAGMA user_version = 4000")
	if said := c.refused(); !strings.Contains(said, "4000") || !strings.Contains(said, "schema") {
		t.Errorf("it doesn't name the schema found:\n%s", said)
	}
	if v := c.sqlite("PRAGMA user_version"); v != "4000" {
		t.Errorf("user_version is %s now; want it untouched", v)
	}
}

func TestForeignDatabaseIsRefusedAndUntouched(t *testing.T) {
	c := newCluster(t, everySecond)
	c.sqlite("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, 'Ada')")
	if said := c.refused(); !strings.Contains(said, c.database()) {
		t.Errorf("it doesn't name the file:\n%s", said)
	}
	if got := c.sqlite("SELECT name FROM customers; SELECT count(*) FROM sqlite_master"); got != "Ada\n1" {
		t.Errorf("the foreign database now holds %q", got)
	}
}

func TestFileThatIsNoDatabaseIsRefusedAndUntouched(t *testing.T) {
	c := newCluster(t, everySecond)
	text := strings.Repeat("not a database ", 1000)
	if err := os.WriteFile(c.database(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := c.refused(); !strings.Contains(said, c.database()) {
		t.Errorf("it doesn't name the file:\n%s", said)
	}
	if data, err := os.ReadFile(c.database()); err != nil || string(data) != text {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestDatabaseDeletedWhileRunningIsSaid(t *testing.T) {
	c := newCluster(t, everySecond)
	i := c.startAll(1)[0]
	c.witness.waitStart(20*time.Second, func(line) bool { return true })
	files, err := filepath.Glob(c.database() + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	i.waitLog("deleted or replaced", 20*time.Second)
	i.stop(90 * time.Second)
	starts := map[int64]int{}
	for _, l := range c.witness.starts("") {
		if starts[l.slot]++; starts[l.slot] > 1 {
			t.Errorf("slot %d was started twice", l.slot)
		}
	}
}

// A full disk refuses writes, visibly; when there is room again, work goes on, and nothing ran
// twice.
func TestFullDiskRefusesAndRecovers(t *testing.T) {
	c := newCluster(t, everySecond)
	disk := filepath.Join(c.dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Fatalf("mount a small tmpfs, which needs root: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	c.write("store.hcl", fmt.Sprintf("store \"sqlite\" {\n  path = %q\n}\n", filepath.Join(disk, "anarchon.db")))
	i := c.startAll(1)[0]
	c.witness.waitStart(20*time.Second, func(line) bool { return true })
	ballast := filepath.Join(disk, "ballast")
	if err := exec.Command("sh", "-c", "cat /dev/zero > "+ballast).Run(); err == nil {
		t.Fatal("the disk isn't full")
	}
	i.waitLog("full", 60*time.Second)
	before := len(c.witness.starts(""))
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	until(t, 30*time.Second, func() error {
		if n := len(c.witness.starts("")); n <= before {
			return fmt.Errorf("%d starts, as before", n)
		}
		return nil
	})
	i.stop(20 * time.Second)
	starts := map[int64]int{}
	for _, l := range c.witness.starts("") {
		if starts[l.slot]++; starts[l.slot] > 1 {
			t.Errorf("slot %d was started twice", l.slot)
		}
	}
	out, err := exec.Command("sqlite3", filepath.Join(disk, "anarchon.db"), "PRAGMA integrity_check").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("integrity_check: %s (%v)", out, err)
	}
}
