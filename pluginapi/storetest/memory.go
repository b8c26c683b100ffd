package storetest

import (
	"context"
	"slices"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func memoryChecks() []Check {
	return []Check{
		{"S94", "Memory/is_not_the_history", "A run that ended can't be won again, however many newer runs the job has.", leaseStore, memoryIsNotHistory},
		{"S95", "Memory/is_shared", "What one client claimed, one that is opened later knows.", anyStore, memoryIsShared},
	}
}

// newerRuns are more than a store's history is likely to hold.
const newerRuns = 1200

func memoryIsNotHistory(ctx context.Context, t *trial) {
	a, b := t.leases()
	var runs []pluginapi.Claim
	for i := range newerRuns {
		c := t.claim(t.job(""))
		c.Slot -= pluginapi.Slot(1000 * (newerRuns - i))
		runs = append(runs, c)
	}
	for part := range slices.Chunk(runs, t.maxBatch()) {
		var finishes []pluginapi.Finish
		for i, got := range t.claimAll(ctx, a, part...) {
			t.expect(got, pluginapi.Won, "a new slot, later than all before")
			finishes = append(finishes, pluginapi.Finish{Job: part[i].Job, Slot: part[i].Slot, Token: part[i].Token, Outcome: pluginapi.Succeeded})
		}
		if _, err := a.Finish(ctx, finishes); err != nil {
			t.fatalf("finish: %v", err)
		}
	}
	for _, i := range []int{0, 1, newerRuns / 2, newerRuns - 1} {
		for _, c := range []pluginapi.Claim{runs[i], t.rival(runs[i])} {
			got := t.claimAll(ctx, b, c)[0]
			if got.Err != nil || got.Verdict != pluginapi.Done && got.Verdict != pluginapi.Late {
				t.errorf("run %d of %d again: got %s (%v), want done, or late when it is forgotten", i+1, newerRuns, got.Verdict, got.Err)
			}
		}
	}
}

func memoryIsShared(ctx context.Context, t *trial) {
	first := t.another(ctx)
	c := t.claim(t.job(""))
	t.claimOne(ctx, first, c, pluginapi.Won, "first claim")
	second := t.another(ctx)
	t.claimOne(ctx, second, t.rival(c), t.taken(), "another token, by a client opened afterwards")
	t.claimOne(ctx, second, c, pluginapi.Won, "the same token, by a client opened afterwards")
}
