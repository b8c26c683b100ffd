package storetest

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func takeoverChecks() []Check {
	return []Check{
		{"S41", "Takeover/next_attempt", "A claim of a run whose lease ended wins attempt 2; the next one is told that it runs.", leaseStore, nextAttempt},
		{"S42", "Takeover/one_winner", "Of 32 concurrent claims of an ended lease exactly one takes it over.", leaseStore, oneTakeover},
		{"S43", "Takeover/live_lease_is_safe", "No claim takes a run over while its lease is live.", leaseStore, liveLeaseIsSafe},
		{"S44", "Takeover/former_holder_doesnt_claim", "The former holder's claim, sent again, doesn't win.", leaseStore, formerClaim},
		{"S45", "Takeover/former_heartbeat_is_fenced", "The former holder's heartbeat is Lost and changes nothing.", leaseStore, formerHeartbeat},
		{"S46", "Takeover/former_finish_is_fenced", "The former holder's finish is Lost and changes nothing.", leaseStore, formerFinish},
	}
}

// takeOver makes a run with a former holder and a present one, and returns their claims.
func (t *trial) takeOver(ctx context.Context) (a, b pluginapi.LeaseStore, former, holder pluginapi.Claim) {
	a, b = t.leases()
	former = t.claim(t.job(""))
	t.claimOne(ctx, a, former, pluginapi.Won, "first claim")
	t.endLease(ctx, a, former)
	holder = t.rival(former)
	t.expectAttempt(t.claimAll(ctx, b, holder)[0], pluginapi.Won, 2, "the takeover")
	return a, b, former, holder
}

func nextAttempt(ctx context.Context, t *trial) {
	a, b, _, holder := t.takeOver(ctx)
	got := t.claimOne(ctx, a, t.rival(holder), pluginapi.Running, "a third token after the takeover")
	t.expectAttempt(got, pluginapi.Running, 2, "a third token after the takeover")
	got = t.claimOne(ctx, b, holder, pluginapi.Won, "the takeover sent again")
	t.expectAttempt(got, pluginapi.Won, 2, "the takeover sent again")
	if got.LeaseLeft <= 0 || got.LeaseLeft > holder.Lease {
		t.errorf("lease left: got %s, want more than 0 and at most %s", got.LeaseLeft, holder.Lease)
	}
}

func oneTakeover(ctx context.Context, t *trial) {
	a, _ := t.leases()
	var runs []pluginapi.Claim
	for i := range min(8, t.maxBatch()) {
		c := t.claim(t.job("." + letters(i)))
		t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
		t.endLease(ctx, a, c)
		runs = append(runs, c)
	}
	t.race(ctx, runs, 32, 2)
}

func liveLeaseIsSafe(ctx context.Context, t *trial) {
	a, b, _, holder := t.takeOver(ctx)
	for range 3 {
		t.claimOne(ctx, a, t.rival(holder), pluginapi.Running, "a claim while the lease is live")
	}
	if got := t.heartbeat(ctx, b, holder, long); got.Verdict != pluginapi.Won {
		t.errorf("heartbeat of the holder: got %s (%v), want won", got.Verdict, got.Err)
	}
}

func formerClaim(ctx context.Context, t *trial) {
	a, b, former, holder := t.takeOver(ctx)
	got := t.claimOne(ctx, a, former, pluginapi.Running, "the former holder's claim")
	t.expectAttempt(got, pluginapi.Running, 2, "the former holder's claim")
	t.claimOne(ctx, b, holder, pluginapi.Won, "the holder after that")
}

func formerHeartbeat(ctx context.Context, t *trial) {
	a, b, former, holder := t.takeOver(ctx)
	if got := t.heartbeat(ctx, a, former, 2*long); got.Verdict != pluginapi.Lost {
		t.errorf("heartbeat of the former holder: got %s (%v), want lost", got.Verdict, got.Err)
	}
	if got := t.heartbeat(ctx, a, former, 0); got.Verdict != pluginapi.Lost {
		t.errorf("giving up by the former holder: got %s (%v), want lost", got.Verdict, got.Err)
	}
	got := t.claimOne(ctx, b, t.rival(holder), pluginapi.Running, "after the former holder's heartbeats")
	if got.LeaseLeft <= 0 || got.LeaseLeft > holder.Lease {
		t.errorf("lease left: got %s, want what the holder's claim of %s left", got.LeaseLeft, holder.Lease)
	}
}

func formerFinish(ctx context.Context, t *trial) {
	a, b, former, holder := t.takeOver(ctx)
	if got := t.finish(ctx, a, former, pluginapi.Failed); got.Verdict != pluginapi.Lost {
		t.errorf("finish of the former holder: got %s (%v), want lost", got.Verdict, got.Err)
	}
	t.claimOne(ctx, b, t.rival(holder), pluginapi.Running, "after the former holder's finish")
	if got := t.finish(ctx, b, holder, pluginapi.Succeeded); got.Verdict != pluginapi.Done {
		t.errorf("finish of the holder after that: got %s (%v), want done", got.Verdict, got.Err)
	}
}
