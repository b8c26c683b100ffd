package sqlite_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

func TestForeignAndNewerDatabasesAreRefusedUntouched(t *testing.T) {
	for name, row := range map[string]struct {
		create string
		says   string
	}{
		"other tables":         {"CREATE TABLE customers (name TEXT)", "another program"},
		"other application":    {"PRAGMA application_id = 42", "another program"},
		"version without mark": {"PRAGMA user_version = 1", "another program"},
		"newer schema":         {"PRAGMA application_id = 0x616e7263; PRAGMA user_version = 7", "store schema 7, this plugin knows 1"},
		"negative schema":      {"PRAGMA application_id = 0x616e7263; PRAGMA user_version = -1", "store schema -1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			db := raw(t, path, "")
			execute(t, db, row.create)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			refusal := refused(t, sqlite.New(quiet), config(path))
			if refusal.Code != pluginapi.Unsupported || !strings.Contains(refusal.Error(), row.says) || !strings.Contains(refusal.Error(), path) {
				t.Errorf("got %s, %q; want unsupported, the path and %q", refusal.Code, refusal, row.says)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestStoresConfiguredTogetherCreateOneSchema(t *testing.T) {
	for range 10 {
		path := newFile(t)
		stores := make([]*sqlite.Store, 8)
		var starting sync.WaitGroup
		for i := range stores {
			stores[i] = sqlite.New(quiet)
			starting.Go(func() {
				if _, err := stores[i].Configure(t.Context(), config(path)); err != nil {
					t.Errorf("store %d: %v", i, err)
				}
			})
		}
		starting.Wait()
		c := newClaim("job")
		expect(t, stores[0], c, pluginapi.Won)
		for _, s := range stores {
			expect(t, s, rival(c), pluginapi.Running)
		}
		for _, s := range stores {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}
