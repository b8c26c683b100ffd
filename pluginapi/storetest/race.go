package storetest

import (
	"context"
	"errors"
	"sync"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// maxBatch is the most items that the store takes at once.
func (t *trial) maxBatch() int {
	if t.info.Limits.MaxBatch > 0 {
		return t.info.Limits.MaxBatch
	}
	return pluginapi.DefaultMaxBatch
}

// race lets claimers, over four clients, claim all the runs at the same time, each under
// tokens of its own and in an order of its own. Exactly one must win each run, with the
// attempt wanted; and it alone is recognised afterwards.
func (t *trial) race(ctx context.Context, runs []pluginapi.Claim, claimers, attempt int) {
	a, b := t.pair()
	clients := []pluginapi.Store{a, b, t.another(ctx).Store, t.another(ctx).Store}
	batches := make([][]pluginapi.Claim, claimers)
	results := make([][]pluginapi.ClaimResult, claimers)
	start := make(chan struct{})
	var claiming sync.WaitGroup
	for i := range batches {
		for _, k := range t.rand.Perm(len(runs)) {
			batches[i] = append(batches[i], t.rival(runs[k]))
		}
		claiming.Go(func() {
			<-start
			var err error
			if results[i], err = insist(ctx, clients[i%len(clients)], batches[i]); err != nil {
				t.errorf("claimer %d: %v", i, err)
			}
		})
	}
	close(start)
	claiming.Wait()

	winners := map[string][]pluginapi.Claim{}
	for i, batch := range batches {
		for k, result := range results[i] {
			if result.Verdict == pluginapi.Won {
				winners[batch[k].Job] = append(winners[batch[k].Job], batch[k])
				t.expectAttempt(result, pluginapi.Won, attempt, batch[k].Job)
			} else {
				t.expect(result, t.taken(), "a claimer that doesn't win "+batch[k].Job)
			}
		}
	}
	for _, run := range runs {
		won := winners[run.Job]
		if len(won) != 1 {
			t.errorf("%s: got %d winners of %d claimers, want 1", run.Job, len(won), claimers)
			continue
		}
		t.claimOne(ctx, clients[0], won[0], pluginapi.Won, "the winner of "+run.Job+", sent again")
	}
}

// insist sends a batch until there is an answer, as the core does: with the same tokens.
func insist(ctx context.Context, s pluginapi.Store, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	for {
		results, err := s.Claim(ctx, claims)
		switch {
		case err == nil && len(results) == len(claims):
			return results, nil
		case err == nil:
			return nil, errors.New("the store doesn't answer each item of the batch")
		case ctx.Err() != nil:
			return nil, err
		}
		switch pluginapi.CodeOf(err) {
		case pluginapi.Ambiguous, pluginapi.Unavailable, pluginapi.Capacity: // ask again
		default:
			return nil, err
		}
	}
}
