package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

func TestPathThatCannotHoldADatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	existing := filepath.Join(dir, "existing.db")
	if err := openStore(t, existing).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(path string) error{
		"a directory":        func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe":             func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a dangling symlink": func(path string) error { return os.Symlink("nowhere", path) },
		"a hard link":        func(path string) error { return os.Link(existing, path) },
		"no directory":       func(path string) error { return os.Remove(filepath.Dir(path)) },
		"no database":        func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("text ", 1000)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			before := contents(path)
			err := refused(t, sqlite.New(quiet), config(path))
			if err.Code == pluginapi.Unavailable || !strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("got %s, %q; want an error that names the path and isn't asked again", err.Code, err)
			}
			if contents(path) != before {
				t.Error("the file was changed")
			}
		})
	}
}

// contents is what is in a file; "" for what isn't one.
func contents(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func TestNetworkFileSystemIsRefused(t *testing.T) {
	path := newFile(t)
	s := sqlite.NewOn(quiet, sqlite.Machine{FileSystem: func(string) (string, error) { return "NFS", nil }})
	if err := refused(t, s, config(path)); err.Code != pluginapi.Unsupported || !strings.Contains(err.Error(), "NFS") {
		t.Errorf("got %s, %q; want unsupported, because of NFS", err.Code, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file was created (%v)", err)
	}
}

func TestFileOfAnyNameIsCreatedForItsOwnerAlone(t *testing.T) {
	for _, name := range []string{"anarchon.db", ":memory:", "a b?mode=memory#%41&x.db", "ü'\".db"} {
		path := filepath.Join(t.TempDir(), name)
		c := newClaim("job")
		expect(t, openStore(t, path), c, pluginapi.Won)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
			t.Fatalf("%s: %v, %v; want a file with mode 0600", name, info, err)
		}
		expect(t, openStore(t, path), rival(c), pluginapi.Running)
	}
}

func TestSymlinkAndItsTargetAreOneDatabase(t *testing.T) {
	path := newFile(t)
	link := filepath.Join(t.TempDir(), "link.db")
	c := newClaim("job")
	expect(t, openStore(t, path), c, pluginapi.Won)
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	expect(t, openStore(t, link), rival(c), pluginapi.Running)
}

// Whoever deletes or replaces one of the files while they are in use takes the memory of the
// claims away. No claim may be answered from what is left.
func TestFileDeletedOrReplacedIsNoticed(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		for name, harm := range map[string]func(path string) error{
			"deleted": os.Remove,
			"replaced": func(path string) error {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if err := os.WriteFile(path+".new", data, 0o600); err != nil {
					return err
				}
				return os.Rename(path+".new", path)
			},
		} {
			t.Run("file"+suffix+" "+name, func(t *testing.T) {
				path := newFile(t)
				s := openStore(t, path)
				c := newClaim("job")
				expect(t, s, c, pluginapi.Won)
				if err := os.Rename(path+suffix, path+".old"); err != nil {
					t.Fatal(err)
				}
				if name == "deleted" {
					expectGone(t, s, path+suffix)
				} else if err := os.Link(path+".old", path+suffix); err != nil || harm(path+suffix) != nil {
					t.Fatal(err)
				}
				expectGone(t, s, path+suffix)
				if err := os.Rename(path+".old", path+suffix); err != nil {
					t.Fatal(err)
				}
				expect(t, s, rival(c), pluginapi.Running) // it is as before
			})
		}
	}
}

func expectGone(t *testing.T, s *sqlite.Store, path string) {
	t.Helper()
	c := newClaim("job")
	_, claimErr := s.Claim(t.Context(), []pluginapi.Claim{c})
	_, beatErr := s.Heartbeat(t.Context(), []pluginapi.Heartbeat{{Job: c.Job, Slot: c.Slot, Token: c.Token, Lease: c.Lease}})
	_, healthErr := s.Health(t.Context())
	_, runsErr := s.Runs(t.Context(), pluginapi.RunsQuery{})
	_, expiredErr := s.Expired(t.Context(), pluginapi.ExpiredQuery{})
	for _, err := range []error{claimErr, beatErr, healthErr, runsErr, expiredErr} {
		if err == nil || pluginapi.CodeOf(err) != pluginapi.Unavailable || !strings.Contains(err.Error(), path+" was deleted or replaced") {
			t.Errorf("got %v; want unavailable, and what happened to the file", err)
		}
	}
}
