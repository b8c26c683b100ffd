package storetest

import (
	"context"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func faultChecks() []Check {
	return append([]Check{
		{"F01", "Faults/ended_context_returns", "A call whose context has ended returns within 100 ms.", anyStore, endedContextReturns},
		{"F02", "Faults/ended_context_is_honest", "What a call said when its context had ended is true.", anyStore, endedContextIsHonest},
		{"F03", "Faults/stalled_backend", "A call that waits for a stalled backend returns within 100 ms of its context's end; the same token gets the answer later.", anyStore, stalledBackend},
		{"F04", "Faults/restarted_backend", "Claims survive the sudden end of the backend.", anyStore, restartedBackend},
	}, binaryChecks()...)
}

// promptly is how fast a call returns when its context has ended (pluginapi.Store).
const promptly = 100 * time.Millisecond

func endedContextReturns(ctx context.Context, t *trial) {
	a, _ := t.pair()
	c := t.claim(t.job(""))
	calls := map[string]func(ctx context.Context){
		"claim":  func(ctx context.Context) { _, _ = a.Claim(ctx, []pluginapi.Claim{c}) },
		"runs":   func(ctx context.Context) { _, _ = a.Runs(ctx, pluginapi.RunsQuery{}) },
		"health": func(ctx context.Context) { _, _ = a.Health(ctx) },
	}
	if lease, ok := a.(pluginapi.LeaseStore); ok {
		calls["heartbeat"] = func(ctx context.Context) {
			_, _ = lease.Heartbeat(ctx, []pluginapi.Heartbeat{{Job: c.Job, Slot: c.Slot, Token: c.Token, Lease: long}})
		}
		calls["finish"] = func(ctx context.Context) {
			_, _ = lease.Finish(ctx, []pluginapi.Finish{{Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: pluginapi.Failed}})
		}
		calls["expired"] = func(ctx context.Context) { _, _ = lease.Expired(ctx, pluginapi.ExpiredQuery{}) }
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, call := range calls {
		// The best of three: a busy machine delays one call now and then, a store that waits
		// for its backend all the same is slow each time.
		best := time.Duration(1<<63 - 1)
		for range 3 {
			start := time.Now()
			call(ended)
			best = min(best, time.Since(start))
		}
		if best >= promptly {
			t.errorf("%s with an ended context: took %s, want less than %s", name, best, promptly)
		}
	}
}

func endedContextIsHonest(ctx context.Context, t *trial) {
	a, b := t.pair()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	c := t.claim(t.job(""))
	results, err := a.Claim(ended, []pluginapi.Claim{c})
	switch {
	case err == nil && len(results) == 1:
		t.expect(results[0], pluginapi.Won, "a first claim with an ended context")
		t.claimOne(ctx, b, t.rival(c), t.taken(), "another token after that claim was answered")
	case err == nil:
		t.errorf("claim: %d answers to a batch of 1", len(results))
	case pluginapi.CodeOf(err) == pluginapi.Ambiguous: // it may be executed later, so only the same token is safe
		t.claimOne(ctx, b, c, pluginapi.Won, "the same token after an ambiguous answer")
	case pluginapi.CodeOf(err) == pluginapi.Unavailable:
		t.claimOne(ctx, b, t.rival(c), pluginapi.Won, "another token: unavailable means that nothing was executed")
	default:
		t.errorf("claim with an ended context: got %s, want ambiguous or unavailable", pluginapi.CodeOf(err))
	}
}

func stalledBackend(ctx context.Context, t *trial) {
	if t.target.Stall == nil {
		t.skipf("needs Target.Stall")
	}
	a, b := t.pair()
	c := t.claim(t.job(""))
	resume, err := t.target.Stall(ctx)
	if err != nil {
		t.fatalf("stall the backend: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	start := time.Now()
	_, err = a.Claim(short, []pluginapi.Claim{c})
	took := time.Since(start)
	resume()
	if took >= 2*promptly {
		t.errorf("a claim with a deadline of %s: took %s, want less than %s more", promptly, took, promptly)
	}
	if err == nil || pluginapi.CodeOf(err) != pluginapi.Ambiguous && pluginapi.CodeOf(err) != pluginapi.Unavailable {
		t.errorf("a claim to a stalled backend: got %v, want an ambiguous or unavailable error", err)
	}
	t.claimOne(ctx, b, c, pluginapi.Won, "the same token after the stall")
	t.claimOne(ctx, a, t.rival(c), t.taken(), "another token after the stall")
}

func restartedBackend(ctx context.Context, t *trial) {
	if t.target.Restart == nil {
		t.skipf("needs Target.Restart")
	}
	a, b := t.pair()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	if err := t.target.Restart(ctx); err != nil {
		t.fatalf("restart the backend: %v", err)
	}
	for _, claim := range []pluginapi.Claim{c, t.rival(c)} {
		results, err := insist(ctx, b, []pluginapi.Claim{claim})
		if err != nil {
			t.fatalf("claim after the restart: %v", err)
		}
		want := t.taken()
		if claim.Token == c.Token {
			want = pluginapi.Won
		}
		t.expect(results[0], want, "a claim after the restart")
	}
}
