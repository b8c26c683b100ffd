package guard_test

import (
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin/internal/guard"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// answer is one claim and what the store said to it.
type answer struct {
	slot    pluginapi.Slot
	token   pluginapi.Token
	verdict pluginapi.Verdict
	attempt int
}

func TestClaim(t *testing.T) {
	won := pluginapi.Won
	for name, c := range map[string]struct {
		before []answer
		last   answer
		ok     bool
	}{
		"first_win":                     {nil, answer{1, "a", won, 1}, true},
		"win_sent_again":                {[]answer{{1, "a", won, 1}}, answer{1, "a", won, 1}, true},
		"next_attempt":                  {[]answer{{1, "a", won, 1}}, answer{1, "b", won, 2}, true},
		"other_slot":                    {[]answer{{1, "a", won, 1}}, answer{2, "b", won, 1}, true},
		"another_holds_it":              {[]answer{{1, "a", won, 1}}, answer{1, "b", pluginapi.Running, 1}, true},
		"every_verdict_has_its_place":   {nil, answer{1, "a", pluginapi.Early, 0}, true},
		"two_winners":                   {[]answer{{1, "a", won, 1}}, answer{1, "b", won, 1}, false},
		"two_winners_after_a_takeover":  {[]answer{{1, "a", won, 1}, {1, "b", won, 2}}, answer{1, "c", won, 2}, false},
		"attempt_goes_down":             {[]answer{{1, "a", won, 2}}, answer{1, "b", won, 1}, false},
		"attempt_goes_down_same_token":  {[]answer{{1, "a", won, 2}}, answer{1, "a", won, 1}, false},
		"attempt_zero":                  {nil, answer{1, "a", won, 0}, false},
		"no_verdict":                    {nil, answer{1, "a", 0, 1}, false},
		"verdict_of_a_later_time":       {nil, answer{1, "a", 99, 1}, false},
		"negative_verdict":              {nil, answer{1, "a", -1, 1}, false},
		"refused_win_is_not_remembered": {[]answer{{1, "a", won, 3}, {1, "b", won, 2}}, answer{1, "a", won, 3}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var g guard.Guard
			for _, a := range c.before {
				_ = ask(&g, a)
			}
			if err := ask(&g, c.last); (err == nil) != c.ok {
				t.Errorf("got %v, want ok %t", err, c.ok)
			}
		})
	}
}

// The memory is bounded: the oldest wins are forgotten, the newest are known.
func TestClaimForgetsTheOldest(t *testing.T) {
	var g guard.Guard
	const runs = 50_000
	for i := range pluginapi.Slot(runs) {
		if err := ask(&g, answer{i, "a", pluginapi.Won, 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(&g, answer{runs - 1000, "b", pluginapi.Won, 1}); err == nil {
		t.Error("a second winner of a recent run wasn't noticed")
	}
	if err := ask(&g, answer{1, "b", pluginapi.Won, 1}); err != nil {
		t.Errorf("a run of long ago is still remembered: %v", err)
	}
}

func TestHeartbeatAndFinish(t *testing.T) {
	for v := pluginapi.Verdict(-1); v <= pluginapi.Early+1; v++ {
		want := v == pluginapi.Won || v == pluginapi.Lost
		if err := guard.Heartbeat(pluginapi.HeartbeatResult{Verdict: v}); (err == nil) != want {
			t.Errorf("heartbeat: verdict %d: got %v, want ok %t", v, err, want)
		}
		want = v == pluginapi.Done || v == pluginapi.Lost
		if err := guard.Finish(pluginapi.FinishResult{Verdict: v}); (err == nil) != want {
			t.Errorf("finish: verdict %d: got %v, want ok %t", v, err, want)
		}
	}
}

func ask(g *guard.Guard, a answer) error {
	return g.Claim(
		pluginapi.Claim{Job: "j", Slot: a.slot, Token: a.token},
		pluginapi.ClaimResult{Verdict: a.verdict, Attempt: a.attempt},
	)
}
