package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// makeRuntimeDir makes a private directory for sockets, in the first of the usual places that
// can be written and whose path is short enough for a socket's. It is locked for as long as the
// process lives, or until release removes it; those of killed instances are removed first.
func makeRuntimeDir() (dir string, release func(), err error) {
	for _, parent := range []string{os.Getenv("RUNTIME_DIRECTORY"), os.Getenv("XDG_RUNTIME_DIR"), "/run", os.TempDir(), "/tmp"} {
		if parent == "" {
			continue
		}
		dir, err := os.MkdirTemp(parent, "anarchon-")
		if err != nil {
			continue
		}
		if len(dir) > pluginclient.MaxRuntimeDir {
			removeAll(dir)
			continue
		}
		lock, err := lockDir(dir)
		if err != nil {
			return "", nil, err
		}
		sweepRuntimeDirs(parent)
		return dir, func() {
			removeAll(dir)
			_ = lock.Close() // it was only locked
		}, nil
	}
	return "", nil, fmt.Errorf("no directory for sockets: none of $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR, /run, $TMPDIR and /tmp can be written and has a path of at most %d bytes", pluginclient.MaxRuntimeDir)
}

// lockDir locks a directory that nobody else has locked.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir) //nolint:gosec // the directories of makeRuntimeDir
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // it was only opened to be locked
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

var runtimeDirName = regexp.MustCompile(`^anarchon-[0-9]+$`)

// unlockedFor is how old a directory must be to count as left behind: between its making and
// its locking lies a moment.
const unlockedFor = time.Minute

// sweepRuntimeDirs removes the directories of instances that were killed: those that are ours
// and that nobody has locked. What it can't remove it leaves.
func sweepRuntimeDirs(parent string) {
	entries, _ := os.ReadDir(parent) // what can't be read can't be swept
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !entry.IsDir() || !runtimeDirName.MatchString(entry.Name()) || time.Since(info.ModTime()) < unlockedFor {
			continue
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(owner.Uid) != os.Geteuid() {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		if lock, err := lockDir(dir); err == nil {
			removeAll(dir)
			_ = lock.Close() // it was only locked
		}
	}
}
