//go:build faultpoints

package pluginclient_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// TestFaults loses the reply after the store has written, in each way and at each point.
func TestFaults(t *testing.T) {
	calls := map[string]func(context.Context, pluginapi.LeaseStore, pluginapi.Claim) error{
		"claim.on_receive":   claimIt,
		"claim.before_reply": claimIt,
		"heartbeat.before_reply": func(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim) error {
			_, err := s.Heartbeat(ctx, []pluginapi.Heartbeat{{Job: c.Job, Slot: c.Slot, Token: c.Token}})
			return err
		},
		"finish.before_reply": func(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim) error {
			_, err := s.Finish(ctx, []pluginapi.Finish{{Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: pluginapi.Failed}})
			return err
		},
	}
	for point, call := range calls {
		t.Run(point, func(t *testing.T) {
			t.Setenv("ANARCHON_FAULT", "other=hang; "+point+"=kill,once:"+filepath.Join(t.TempDir(), "marker"))
			first := open(t, self(t, "good"))
			if err := call(t.Context(), leases(t, configure(t, first, pluginapi.Config{})), claimOf("a")); pluginapi.CodeOf(err) != pluginapi.Ambiguous {
				t.Errorf("%v; want Ambiguous", err)
			}
			if got := ended(t, first); !strings.Contains(got, "signal: killed") {
				t.Errorf("it ended with %q", got)
			}
			second := open(t, self(t, "good"))
			if err := call(t.Context(), leases(t, configure(t, second, pluginapi.Config{})), claimOf("a")); err != nil {
				t.Errorf("the second process: %v; the fault is to happen once", err)
			}
		})
	}
}

func TestFaultThatHangs(t *testing.T) {
	t.Setenv("ANARCHON_FAULT", "claim.before_reply=hang")
	plugin := open(t, self(t, "good"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := claimIt(ctx, leases(t, configure(t, plugin, pluginapi.Config{})), claimOf("a")); pluginapi.CodeOf(err) != pluginapi.Ambiguous {
		t.Errorf("%v; want Ambiguous", err)
	}
}

func claimIt(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim) error {
	_, err := s.Claim(ctx, []pluginapi.Claim{c})
	return err
}

func leases(t *testing.T, store pluginapi.Store) pluginapi.LeaseStore {
	t.Helper()
	s, ok := store.(pluginapi.LeaseStore)
	if !ok {
		t.Fatalf("a %T keeps no leases", store)
	}
	return s
}
