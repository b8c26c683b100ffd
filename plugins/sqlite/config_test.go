package sqlite_test

import (
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

func TestSettingsReachSQLite(t *testing.T) {
	for synchronous, want := range map[string]string{"full": "2", "normal": "1"} {
		s := openStore(t, newFile(t), "synchronous", synchronous, "busy_timeout", "1234ms")
		for range 2 { // before and after the writer has its connection
			for pragma, want := range map[string]string{"synchronous": want, "journal_mode": "wal", "busy_timeout": "1234", "user_version": "1"} {
				if got, err := s.Pragma(t.Context(), pragma); err != nil || got != want {
					t.Errorf("%s: PRAGMA %s is %q (%v), want %s", synchronous, pragma, got, err, want)
				}
			}
			expect(t, s, newClaim("job"), pluginapi.Won)
		}
	}
}

func TestNormalWarnsOfLossOfPower(t *testing.T) {
	for synchronous, warnings := range map[string]int{"full": 0, "normal": 1} {
		info, err := sqlite.New(quiet).Validate(t.Context(), config("/x", "synchronous", synchronous))
		if err != nil || len(info.Warnings) != warnings || strings.Contains(info.Guarantee, "run again") != (warnings == 1) {
			t.Errorf("%s: got %v, %q (%v)", synchronous, info.Warnings, info.Guarantee, err)
		}
	}
}

func TestOtherSettingsForAnOpenStoreAreRefused(t *testing.T) {
	path := newFile(t)
	s := openStore(t, path)
	for _, c := range []pluginapi.Config{config(newFile(t)), config(path, "history_size", 5)} {
		if _, err := s.Configure(t.Context(), c); err == nil || pluginapi.CodeOf(err) != pluginapi.Invalid {
			t.Errorf("got %v, want an invalid error", err)
		}
	}
	expect(t, s, newClaim("job"), pluginapi.Won)
}

func TestEverythingWrongIsSaidAtOnce(t *testing.T) {
	_, err := sqlite.New(quiet).Validate(t.Context(), config("x", "synchronous", "", "busy_timeout", "soon", "history_size", 1_000_001))
	if e := pluginapi.AsError("", err); e == nil || e.Code != pluginapi.Invalid || len(e.Diagnostics) != 4 {
		t.Errorf("got %v, want four diagnostics", err)
	}
}
