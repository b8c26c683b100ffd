package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
)

func target(t *testing.T) storetest.Target {
	t.Helper()
	dir := t.TempDir()
	settings, err := json.Marshal(map[string]string{"dir": dir})
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Target{
		New: plugin.New, Schema: plugin.Schema, Settings: settings,
		Bad:   []storetest.BadSettings{{Name: "a number", Settings: []byte(`{"dir": 1}`)}},
		Stall: func(context.Context) (resume func(), err error) { return stall(dir) },
	}
}

// stall holds the lock, as an instance does that stands still in its step.
func stall(dir string) (resume func(), err error) {
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
}

func TestStoreConforms(t *testing.T) { storetest.Run(t, target(t)) }

func TestPluginConforms(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "anarchon-plugin-file")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatalf("build the plugin: %v", err)
	}
	target := target(t)
	target.Binary = binary
	storetest.Run(t, target)
}
