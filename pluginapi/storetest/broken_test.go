package storetest_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/internal/broken"
)

// brokenTarget is the reference store with one fault.
func brokenTarget(fault broken.Fault) storetest.Target {
	c, world := &clock{}, broken.NewWorld()
	server := memstore.New(memstore.Options{Now: func() time.Time { return world.Now(c.Now) }, History: 2000})
	skewed := func(_ *slog.Logger, skew time.Duration) pluginapi.Store {
		return world.Break(server.Open(), fault, skew)
	}
	return storetest.Target{
		New:     func(log *slog.Logger) pluginapi.Store { return skewed(log, 0) },
		Skewed:  skewed,
		Advance: c.Advance,
	}
}

func TestSuiteFindsEveryFaultAndNothingElse(t *testing.T) {
	for fault, want := range map[broken.Fault]string{
		"":                         "",
		broken.TwoWinners:          "S04 S42",
		broken.ForgetsTokens:       "C05 C06 S03 S04 S05 S06 S11 S14 S32 S41 S42 S44 S71 S75 S83 S95",
		broken.FencesNobody:        "S17 S35 S45 S46 S54 S63",
		broken.IgnoresContexts:     "F01",
		broken.TakesOverTwice:      "S41 S42 S43 S45 S46",
		broken.FreesEndedRuns:      "S51 S55 S56 S83 S94",
		broken.ForgetsOldRuns:      "S94",
		broken.ClientClock:         "S87",
		broken.OtherOrder:          "S12 S13",
		broken.LateForAll:          "S83",
		broken.OverlappingTakeover: "S75",
		broken.LastOutcomeWins:     "S53",
		broken.ShowsTokens:         "C10",
	} {
		t.Run("fault="+string(fault), func(t *testing.T) {
			t.Parallel()
			report := storetest.Execute(t.Context(), brokenTarget(fault), storetest.Options{})
			expectFailures(t, report, want)
		})
	}
}

// expectFailures requires that exactly the wanted checks failed.
func expectFailures(t *testing.T, report storetest.Report, want string) {
	t.Helper()
	var got []string
	for _, result := range report.Results {
		if result.Status == storetest.Fail {
			got = append(got, result.ID)
		}
	}
	wanted := strings.Fields(want)
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		var text strings.Builder
		_ = report.WriteText(&text)
		t.Errorf("failed checks: got %v, want %v\n%s", got, wanted, text.String())
	}
}
