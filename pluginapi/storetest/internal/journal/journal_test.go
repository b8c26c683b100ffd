package journal_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/internal/journal"
)

func open(t *testing.T, path string) *journal.Store {
	t.Helper()
	s, err := journal.Open(path)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s
}

func TestConforms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	storetest.Run(t, storetest.Target{New: func(*slog.Logger) pluginapi.Store { return open(t, path) }})
}

func TestTornLastLineIsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	claims := []pluginapi.Claim{{
		Job: "job", Slot: pluginapi.SlotOf(time.Now()), Token: "first", Lease: time.Hour, MaxLate: time.Hour, MaxAttempts: 1,
	}}
	want := func(s *journal.Store, token pluginapi.Token, verdict pluginapi.Verdict) {
		t.Helper()
		claims[0].Token = token
		results, err := s.Claim(t.Context(), claims)
		if err != nil || results[0].Verdict != verdict {
			t.Fatalf("claim under %s: got %v, %v; want %v", token, results, err, verdict)
		}
	}
	want(open(t, path), "first", pluginapi.Won)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, whole[:len(whole)/2]...), 0o600); err != nil {
		t.Fatal(err)
	}
	want(open(t, path), "second", pluginapi.Running)
	want(open(t, path), "first", pluginapi.Won)
}
