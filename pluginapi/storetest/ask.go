package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// now reads the store's clock; this process's where the store has none to read.
func (t *trial) now(ctx context.Context) time.Time {
	health, err := t.shared[0].Health(ctx)
	if err != nil {
		t.fatalf("health: %v", err)
	}
	if health.StoreTime.IsZero() {
		return time.Now()
	}
	return health.StoreTime
}

// pair returns the two shared clients.
func (t *trial) pair() (a, b pluginapi.Store) { return t.shared[0].Store, t.shared[1].Store }

// leases returns the two shared clients of a lease store.
func (t *trial) leases() (a, b pluginapi.LeaseStore) {
	return t.asLease(t.shared[0].Store), t.asLease(t.shared[1].Store)
}

func (t *trial) asLease(s pluginapi.Store) pluginapi.LeaseStore {
	lease, ok := s.(pluginapi.LeaseStore)
	if !ok {
		t.fatalf("the store claims kind lease and isn't a LeaseStore")
	}
	return lease
}

// another returns a further client of the check's own.
func (t *trial) another(ctx context.Context) *client {
	c, err := t.open(ctx)
	if err != nil {
		t.fatalf("open another client: %v", err)
	}
	t.cleanup(func() {
		if err := c.end(context.WithoutCancel(ctx)); err != nil {
			t.errorf("close a client: %v", err)
		}
	})
	return c
}

// claimAll sends one batch and returns its answers, one for each claim.
func (t *trial) claimAll(ctx context.Context, s pluginapi.Store, claims ...pluginapi.Claim) []pluginapi.ClaimResult {
	results, err := s.Claim(ctx, claims)
	if err != nil {
		t.fatalf("claim %s: %v", names(claims), err)
	}
	if len(results) != len(claims) {
		t.fatalf("claim: %d answers to a batch of %d", len(results), len(claims))
	}
	return results
}

// claimOne sends one claim, expects the verdict, and returns the answer.
func (t *trial) claimOne(ctx context.Context, s pluginapi.Store, c pluginapi.Claim, want pluginapi.Verdict, when string) pluginapi.ClaimResult {
	got := t.claimAll(ctx, s, c)[0]
	t.expect(got, want, when)
	return got
}

// expect reports an answer with another verdict than the one wanted.
func (t *trial) expect(got pluginapi.ClaimResult, want pluginapi.Verdict, when string) {
	switch {
	case got.Err != nil:
		t.errorf("%s: got the error %v, want %s", when, got.Err, want)
	case got.Verdict != want:
		t.errorf("%s: got %s, want %s", when, got.Verdict, want)
	}
}

// expectAttempt does what expect does, for an answer that must also name the attempt.
func (t *trial) expectAttempt(got pluginapi.ClaimResult, want pluginapi.Verdict, attempt int, when string) {
	t.expect(got, want, when)
	if got.Verdict == want && got.Attempt != attempt {
		t.errorf("%s: got attempt %d, want %d", when, got.Attempt, attempt)
	}
}

// taken is the verdict on a run that another holds and has not ended.
func (t *trial) taken() pluginapi.Verdict {
	if t.info.Kind == pluginapi.Gate {
		return pluginapi.Lost
	}
	return pluginapi.Running
}

// heartbeat extends, or gives up, the claim's lease.
func (t *trial) heartbeat(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim, lease time.Duration) pluginapi.HeartbeatResult {
	results, err := s.Heartbeat(ctx, []pluginapi.Heartbeat{{Job: c.Job, Slot: c.Slot, Token: c.Token, Lease: lease}})
	if err != nil || len(results) != 1 {
		t.fatalf("heartbeat of %s: %d answers, %v", c.Job, len(results), err)
	}
	return results[0]
}

// finish ends the claim's run.
func (t *trial) finish(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim, outcome pluginapi.Outcome) pluginapi.FinishResult {
	results, err := s.Finish(ctx, []pluginapi.Finish{{Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: outcome}})
	if err != nil || len(results) != 1 {
		t.fatalf("finish of %s: %d answers, %v", c.Job, len(results), err)
	}
	return results[0]
}

// endLease makes the claim's lease end, and returns when the store says that it has.
func (t *trial) endLease(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim) {
	if got := t.heartbeat(ctx, s, c, time.Millisecond); got.Verdict != pluginapi.Won {
		t.fatalf("heartbeat of the holder of %s: got %s (%v), want won", c.Job, got.Verdict, got.Err)
	}
	t.awaitEnd(ctx, s, c)
}

// awaitEnd returns when the store says that the run's lease, which is short, has ended.
func (t *trial) awaitEnd(ctx context.Context, s pluginapi.LeaseStore, c pluginapi.Claim) {
	if t.target.Advance != nil {
		t.target.Advance(time.Second)
	}
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		refs, err := s.Expired(ctx, pluginapi.ExpiredQuery{Jobs: []string{c.Job}})
		if err != nil {
			t.fatalf("expired: %v", err)
		}
		if slices.ContainsFunc(refs, func(r pluginapi.RunRef) bool { return r.Job == c.Job && r.Slot == c.Slot }) {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.fatalf("%s never came up in Expired after its lease had ended", c.Job)
		}
	}
}

// record reads one run of the history.
func (t *trial) record(ctx context.Context, s pluginapi.Store, c pluginapi.Claim) pluginapi.Run {
	page, err := s.Runs(ctx, pluginapi.RunsQuery{Job: c.Job, Slot: c.Slot})
	if err != nil {
		t.fatalf("runs: %v", err)
	}
	if len(page.Runs) != 1 {
		t.fatalf("the history of one run of %s has %d runs", c.Job, len(page.Runs))
	}
	return page.Runs[0]
}

// unrecorded reports a run that should not be in the history.
func (t *trial) unrecorded(ctx context.Context, s pluginapi.Store, c pluginapi.Claim, when string) {
	if !t.info.HasHistory {
		return
	}
	page, err := s.Runs(ctx, pluginapi.RunsQuery{Job: c.Job, Slot: c.Slot})
	switch {
	case err != nil:
		t.errorf("runs: %v", err)
	case len(page.Runs) > 0:
		t.errorf("%s: the history has the run", when)
	}
}

// names lists a batch's jobs, for messages.
func names(claims []pluginapi.Claim) []string {
	var jobs []string
	for _, c := range claims[:min(3, len(claims))] {
		jobs = append(jobs, c.Job)
	}
	return jobs
}
