package sqlite_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// target is a store in this process, on a file of its own.
func target(t *testing.T, more ...any) storetest.Target {
	t.Helper()
	path := newFile(t)
	return storetest.Target{
		New:      func(log *slog.Logger) pluginapi.Store { return sqlite.New(log) },
		Schema:   sqlite.Schema(),
		Settings: config(path, more...).Settings,
		Stall:    func(ctx context.Context) (func(), error) { return lockOut(ctx, raw(t, path, "")) },
		Bad: []storetest.BadSettings{
			{Name: "no path", Settings: config("").Settings, Path: pluginapi.Attr("path")},
			{Name: "a relative path", Settings: config("anarchon.db").Settings, Path: pluginapi.Attr("path")},
			{Name: "synchronous off", Settings: config(path, "synchronous", "off").Settings, Path: pluginapi.Attr("synchronous")},
			{Name: "no busy_timeout", Settings: config(path, "busy_timeout", "0s").Settings, Path: pluginapi.Attr("busy_timeout")},
			{Name: "a negative history", Settings: config(path, "history_size", -1).Settings, Path: pluginapi.Attr("history_size")},
		},
	}
}

// lockOut takes the write lock until resume is called.
func lockOut(ctx context.Context, db *sql.DB) (resume func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	return func() {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		_ = conn.Close()
	}, nil
}

func TestConformance(t *testing.T) {
	t.Run("real clocks", func(t *testing.T) { storetest.Run(t, target(t)) })
	t.Run("clocks of the test", func(t *testing.T) {
		c, target := &clocks{}, target(t)
		target.Advance = c.pass
		target.New = func(log *slog.Logger) pluginapi.Store { return sqlite.NewOn(log, sqlite.Machine{Now: c.now}) }
		storetest.Run(t, target)
	})
	t.Run("normal, no history", func(t *testing.T) {
		storetest.Run(t, target(t, "synchronous", "normal", "history_size", 0))
	})
	t.Run("as a binary", func(t *testing.T) {
		target := target(t)
		target.Binary = filepath.Join(t.TempDir(), "anarchon-plugin-sqlite")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", target.Binary, "./cmd/anarchon-plugin-sqlite")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build the plugin: %v\n%s", err, out)
		}
		storetest.Run(t, target)
	})
}
