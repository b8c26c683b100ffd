package storetest

import (
	"context"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func finishChecks() []Check {
	return []Check{
		{"S51", "Finish/ends_the_run", "A run that ended is Done for every claim, the holder's too.", leaseStore, finishEnds},
		{"S52", "Finish/sent_again", "A finish sent again is answered Done again.", leaseStore, finishAgain},
		{"S53", "Finish/other_outcome_conflicts", "Another outcome under the same token is a Conflict and changes nothing.", leaseStore, finishConflict},
		{"S54", "Finish/stranger_changes_nothing", "A finish under a token that never won is Lost.", leaseStore, strangerFinish},
		{"S55", "Finish/heartbeat_afterwards", "A heartbeat of a run that ended is Lost and doesn't revive it.", leaseStore, heartbeatAfterFinish},
		{"S56", "Finish/after_the_lease_ended", "A holder whose lease ended and that nobody replaced can end its run.", leaseStore, finishAfterEnd},
		{"S57", "Finish/every_outcome", "Every outcome, with its exit code and its detail, is what the history shows.", leaseRuns, everyOutcome},
	}
}

// ended makes a run that ended as succeeded, and returns its claim.
func (t *trial) ended(ctx context.Context) (a, b pluginapi.LeaseStore, c pluginapi.Claim) {
	a, b = t.leases()
	c = t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	if got := t.finish(ctx, a, c, pluginapi.Succeeded); got.Verdict != pluginapi.Done {
		t.fatalf("finish: got %s (%v), want done", got.Verdict, got.Err)
	}
	return a, b, c
}

func finishEnds(ctx context.Context, t *trial) {
	a, b, c := t.ended(ctx)
	for range 2 {
		t.claimOne(ctx, b, t.rival(c), pluginapi.Done, "another token after the run ended")
		t.claimOne(ctx, a, c, pluginapi.Done, "the same token after the run ended")
	}
}

func finishAgain(ctx context.Context, t *trial) {
	_, b, c := t.ended(ctx)
	if got := t.finish(ctx, b, c, pluginapi.Succeeded); got.Verdict != pluginapi.Done {
		t.errorf("the same finish again: got %s (%v), want done", got.Verdict, got.Err)
	}
}

func finishConflict(ctx context.Context, t *trial) {
	_, b, c := t.ended(ctx)
	if got := t.finish(ctx, b, c, pluginapi.Failed); got.Err == nil || got.Err.Code != pluginapi.Conflict {
		t.errorf("another outcome: got %s (%v), want a conflict", got.Verdict, got.Err)
	}
	if got := t.finish(ctx, b, c, pluginapi.Succeeded); got.Verdict != pluginapi.Done {
		t.errorf("the first outcome after that: got %s (%v), want done", got.Verdict, got.Err)
	}
	if t.info.HasHistory {
		if run := t.record(ctx, b, c); run.Outcome != pluginapi.Succeeded {
			t.errorf("outcome in the history: got %q, want succeeded", run.Outcome)
		}
	}
}

func strangerFinish(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	if got := t.finish(ctx, b, t.rival(c), pluginapi.Failed); got.Verdict != pluginapi.Lost {
		t.errorf("finish by a stranger: got %s (%v), want lost", got.Verdict, got.Err)
	}
	t.claimOne(ctx, b, t.rival(c), pluginapi.Running, "after a stranger's finish")
}

func heartbeatAfterFinish(ctx context.Context, t *trial) {
	a, b, c := t.ended(ctx)
	if got := t.heartbeat(ctx, a, c, long); got.Verdict != pluginapi.Lost {
		t.errorf("heartbeat of a run that ended: got %s (%v), want lost", got.Verdict, got.Err)
	}
	t.claimOne(ctx, b, t.rival(c), pluginapi.Done, "after that heartbeat")
}

func finishAfterEnd(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.endLease(ctx, a, c)
	if got := t.finish(ctx, b, c, pluginapi.Succeeded); got.Verdict != pluginapi.Done {
		t.errorf("finish after the lease ended: got %s (%v), want done", got.Verdict, got.Err)
	}
	t.claimOne(ctx, b, t.rival(c), pluginapi.Done, "after that finish")
}

func everyOutcome(ctx context.Context, t *trial) {
	a, b := t.leases()
	for outcome := pluginapi.Succeeded; outcome <= pluginapi.Interrupted; outcome++ {
		c := t.claim(t.job("." + letters(int(outcome))))
		t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
		detail := `it's "` + outcome.String() + "\": é\n" + strings.Repeat("x", 2*pluginapi.MaxDetail)
		results, err := a.Finish(ctx, []pluginapi.Finish{{
			Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: outcome, ExitCode: 100 + int(outcome), Detail: detail,
		}})
		if err != nil || len(results) != 1 || results[0].Verdict != pluginapi.Done {
			t.fatalf("finish as %s: %+v, %v", outcome, results, err)
		}
		run := t.record(ctx, b, c)
		if run.Outcome != outcome || run.ExitCode != 100+int(outcome) || run.Finished.IsZero() {
			t.errorf("history: got outcome %q, exit code %d, finished %s; want %q, %d and a time",
				run.Outcome, run.ExitCode, run.Finished, outcome, 100+int(outcome))
		}
		if run.Detail != detail[:pluginapi.MaxDetail] {
			t.errorf("detail in the history: got %d bytes, %.40q; want the first %d of what was sent",
				len(run.Detail), run.Detail, pluginapi.MaxDetail)
		}
	}
}
