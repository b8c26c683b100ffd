package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRuntimeDirsOfKilledInstancesAreRemoved(t *testing.T) {
	parent, err := os.MkdirTemp("", "rt") //nolint:usetesting // t.TempDir would be too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer removeAll(parent)
	t.Setenv("RUNTIME_DIRECTORY", parent)
	old := time.Now().Add(-time.Hour)
	leave := func(name string) string {
		dir := filepath.Join(parent, name)
		if err := os.MkdirAll(filepath.Join(dir, "plugin-dir1"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	killed, live, foreign := leave("anarchon-123"), leave("anarchon-456"), leave("anarchon-dev-789")
	lock, err := lockDir(live)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }() // it was only locked

	dir, release, err := makeRuntimeDir()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{killed: false, live: true, foreign: true, dir: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", path, err == nil, want)
		}
	}
	release()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left behind", dir)
	}
}
