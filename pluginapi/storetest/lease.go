package storetest

import (
	"context"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func leaseChecks() []Check {
	return []Check{
		{"S31", "Lease/ends_by_itself", "A lease that nobody extends ends, on the store's clock.", leaseStore, leaseEnds},
		{"S32", "Lease/same_token_after_its_end", "The holder's claim, sent again after its lease ended, is still Won.", leaseStore, sameTokenAfterEnd},
		{"S33", "Heartbeat/extends", "A heartbeat makes the lease end its length after the store's now.", leaseStore, heartbeatExtends},
		{"S34", "Heartbeat/ended_lease", "A lease that ended without a takeover can be extended.", leaseStore, heartbeatAfterEnd},
		{"S35", "Heartbeat/stranger_changes_nothing", "A heartbeat under a token that never won is Lost.", leaseStore, strangerHeartbeat},
		{"S36", "Heartbeat/unknown_run", "A heartbeat or finish of a run that nobody claimed is Lost and claims nothing.", leaseStore, unknownRun},
	}
}

func leaseEnds(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	c.Lease = 20 * time.Millisecond
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.awaitEnd(ctx, a, c)
	got := t.claimOne(ctx, b, t.rival(c), pluginapi.Won, "after the lease ended")
	t.expectAttempt(got, pluginapi.Won, 2, "after the lease ended")
}

func sameTokenAfterEnd(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.endLease(ctx, a, c)
	got := t.claimOne(ctx, b, c, pluginapi.Won, "sent again after the lease ended")
	t.expectAttempt(got, pluginapi.Won, 1, "sent again after the lease ended")
	if got.LeaseLeft > 0 {
		t.errorf("lease left: got %s, want 0 or less: a re-send doesn't extend", got.LeaseLeft)
	}
}

func heartbeatExtends(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	got := t.heartbeat(ctx, b, c, 2*long)
	if got.Verdict != pluginapi.Won || got.LeaseLeft <= long || got.LeaseLeft > 2*long {
		t.errorf("heartbeat of %s: got %s with %s left (%v), want won and just below that", 2*long, got.Verdict, got.LeaseLeft, got.Err)
	}
	left := t.claimOne(ctx, a, t.rival(c), pluginapi.Running, "after the heartbeat").LeaseLeft
	if left <= long || left > 2*long {
		t.errorf("lease left for others: got %s, want just below %s", left, 2*long)
	}
	t.endLease(ctx, a, c) // a heartbeat also shortens
}

func heartbeatAfterEnd(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.endLease(ctx, a, c)
	if got := t.heartbeat(ctx, a, c, long); got.Verdict != pluginapi.Won || got.LeaseLeft <= 0 {
		t.errorf("heartbeat after the lease ended: got %s with %s left (%v), want won", got.Verdict, got.LeaseLeft, got.Err)
	}
	got := t.claimOne(ctx, b, t.rival(c), pluginapi.Running, "after that heartbeat")
	t.expectAttempt(got, pluginapi.Running, 1, "after that heartbeat")
}

func strangerHeartbeat(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	for what, lease := range map[string]time.Duration{"a longer lease": 2 * long, "1 ms": time.Millisecond, "giving up": 0} {
		if got := t.heartbeat(ctx, b, t.rival(c), lease); got.Verdict != pluginapi.Lost {
			t.errorf("heartbeat by a stranger, %s: got %s (%v), want lost", what, got.Verdict, got.Err)
		}
	}
	left := t.claimOne(ctx, b, t.rival(c), pluginapi.Running, "after a stranger's heartbeats").LeaseLeft
	if left <= 0 || left > long {
		t.errorf("lease left: got %s, want what the holder's claim of %s left", left, long)
	}
}

func unknownRun(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	if got := t.heartbeat(ctx, a, c, long); got.Verdict != pluginapi.Lost {
		t.errorf("heartbeat of a run that nobody claimed: got %s (%v), want lost", got.Verdict, got.Err)
	}
	if got := t.finish(ctx, a, c, pluginapi.Succeeded); got.Verdict != pluginapi.Lost {
		t.errorf("finish of a run that nobody claimed: got %s (%v), want lost", got.Verdict, got.Err)
	}
	got := t.claimOne(ctx, b, t.rival(c), pluginapi.Won, "the first claim")
	t.expectAttempt(got, pluginapi.Won, 1, "the first claim")
}
