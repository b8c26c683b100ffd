package storetest

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func attemptChecks() []Check {
	return []Check{
		{"S61", "Attempts/used_up", "When the lease of the last attempt ends, the run is Done, as interrupted.", leaseStore, attemptsUsedUp},
		{"S62", "Attempts/last_holder_is_fenced", "The last holder of an interrupted run can change nothing.", leaseStore, lastHolderFenced},
		{"S63", "Release/ends_the_lease_at_once", "A run that was given up can be taken over at once.", leaseStore, releaseEndsLease},
		{"S64", "Release/isnt_counted", "An attempt that was given up doesn't count against the run's attempts.", leaseStore, releaseIsntCounted},
	}
}

// useUp makes a run whose two attempts are used up, and returns the last holder's claim.
func (t *trial) useUp(ctx context.Context) (a, b pluginapi.LeaseStore, last pluginapi.Claim) {
	a, b = t.leases()
	first := t.claim(t.job(""))
	first.MaxAttempts = 2
	t.claimOne(ctx, a, first, pluginapi.Won, "first claim")
	t.endLease(ctx, a, first)
	last = t.rival(first)
	t.expectAttempt(t.claimAll(ctx, b, last)[0], pluginapi.Won, 2, "the takeover")
	t.endLease(ctx, b, last)
	t.claimOne(ctx, a, t.rival(first), pluginapi.Done, "a claim after the last attempt's lease")
	return a, b, last
}

func attemptsUsedUp(ctx context.Context, t *trial) {
	a, b, last := t.useUp(ctx)
	t.claimOne(ctx, b, t.rival(last), pluginapi.Done, "a claim after that")
	t.claimOne(ctx, b, last, pluginapi.Done, "the last holder's claim after that")
	if t.info.HasHistory {
		run := t.record(ctx, a, last)
		if run.Outcome != pluginapi.Interrupted || len(run.Attempts) != 2 {
			t.errorf("history: got outcome %q after %d attempts, want interrupted after 2", run.Outcome, len(run.Attempts))
		}
	}
}

func lastHolderFenced(ctx context.Context, t *trial) {
	a, b, last := t.useUp(ctx)
	if got := t.heartbeat(ctx, b, last, long); got.Verdict != pluginapi.Lost {
		t.errorf("heartbeat of the last holder: got %s (%v), want lost", got.Verdict, got.Err)
	}
	if got := t.finish(ctx, b, last, pluginapi.Succeeded); got.Verdict == pluginapi.Done {
		t.errorf("finish of the last holder: got done, want lost or a conflict")
	}
	t.claimOne(ctx, a, t.rival(last), pluginapi.Done, "after that")
	if t.info.HasHistory {
		if run := t.record(ctx, a, last); run.Outcome != pluginapi.Interrupted {
			t.errorf("outcome in the history: got %q, want interrupted", run.Outcome)
		}
	}
}

func releaseEndsLease(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	if got := t.heartbeat(ctx, a, c, 0); got.Verdict != pluginapi.Won {
		t.errorf("giving up: got %s (%v), want won", got.Verdict, got.Err)
	}
	got := t.claimOne(ctx, b, t.rival(c), pluginapi.Won, "right after the run was given up")
	t.expectAttempt(got, pluginapi.Won, 2, "right after the run was given up")
	if got := t.heartbeat(ctx, a, c, long); got.Verdict != pluginapi.Lost {
		t.errorf("heartbeat of who gave up: got %s (%v), want lost", got.Verdict, got.Err)
	}
}

func releaseIsntCounted(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	c.MaxAttempts = 1
	for attempt := 1; attempt <= 3; attempt++ {
		c = t.rival(c)
		t.expectAttempt(t.claimAll(ctx, a, c)[0], pluginapi.Won, attempt, "the run after it was given up")
		if attempt < 3 {
			t.heartbeat(ctx, a, c, 0)
		}
	}
	t.endLease(ctx, a, c)
	t.claimOne(ctx, b, t.rival(c), pluginapi.Done, "after the only attempt that counts")
	if !t.info.HasHistory {
		return
	}
	run := t.record(ctx, b, c)
	for i, a := range run.Attempts {
		if a.Released != (i < 2) || a.Number != i+1 {
			t.errorf("attempt %d in the history: got number %d, released %t; want %d, %t", i, a.Number, a.Released, i+1, i < 2)
		}
	}
	if len(run.Attempts) != 3 {
		t.errorf("history: got %d attempts, want 3", len(run.Attempts))
	}
}
