package storetest

import (
	"context"
	"slices"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func batchChecks() []Check {
	return []Check{
		{"S11", "Batch/sizes", "A batch of 0, 1, 2 or the most items is answered item by item.", anyStore, batchSizes},
		{"S12", "Batch/answers_in_order", "Each item gets its own answer, in the order of the batch.", anyStore, answersInOrder},
		{"S13", "Batch/invalid_item_fails_alone", "An invalid item gets an Invalid error and its neighbours their answers.", anyStore, invalidItemFailsAlone},
		{"S14", "Batch/same_token_twice", "The same claim twice in a batch is answered Won twice.", anyStore, sameTokenTwice},
		{"S15", "Batch/two_tokens_for_one_run", "Two claims of one run in a batch have one winner.", anyStore, twoTokensInOneBatch},
		{"S16", "Batch/two_slots_of_a_skip_job", "Two slots of a job in a batch respect its overlap rule.", leaseStore, twoSlotsInOneBatch},
		{"S17", "Batch/heartbeats_and_finishes", "Heartbeats and finishes are answered item by item, in order.", leaseStore, leaseBatches},
	}
}

func batchSizes(ctx context.Context, t *trial) {
	a, b := t.pair()
	if results, err := a.Claim(ctx, nil); err != nil || len(results) != 0 {
		t.errorf("a batch of 0: got %d answers and %v, want 0 and no error", len(results), err)
	}
	for i, size := range []int{1, 2, t.maxBatch()} {
		batch := make([]pluginapi.Claim, size)
		for k := range batch {
			batch[k] = t.claim(t.job("." + letters(i) + letters(k)))
		}
		for _, got := range t.claimAll(ctx, a, batch...) {
			t.expect(got, pluginapi.Won, "in a batch of new runs")
		}
		for _, got := range t.claimAll(ctx, b, batch...) {
			t.expect(got, pluginapi.Won, "in the same batch, sent again")
		}
	}
}

func answersInOrder(ctx context.Context, t *trial) {
	a, b := t.pair()
	var batch []pluginapi.Claim
	want := map[string]pluginapi.Verdict{}
	for i := range min(64, t.maxBatch()) {
		c := t.claim(t.job("." + letters(i)))
		want[c.Job] = pluginapi.Won
		if t.rand.IntN(2) == 0 {
			t.claimOne(ctx, a, t.rival(c), pluginapi.Won, "first claim")
			want[c.Job] = t.taken()
		}
		batch = append(batch, c)
	}
	// Neither the order of names nor the order of creation is the order of the batch.
	t.rand.Shuffle(len(batch), func(i, k int) { batch[i], batch[k] = batch[k], batch[i] })
	for i, got := range t.claimAll(ctx, b, batch...) {
		t.expect(got, want[batch[i].Job], batch[i].Job)
	}
}

func invalidItemFailsAlone(ctx context.Context, t *trial) {
	a, _ := t.pair()
	spoil := map[string]func(*pluginapi.Claim){
		"no job":            func(c *pluginapi.Claim) { c.Job = "" },
		"an upper-case job": func(c *pluginapi.Claim) { c.Job = "Job" },
		"a long job":        func(c *pluginapi.Claim) { c.Job = strings.Repeat("j", 129) },
		"no token":          func(c *pluginapi.Claim) { c.Token = "" },
		"a space in token":  func(c *pluginapi.Claim) { c.Token = "a b" },
		"slot 0":            func(c *pluginapi.Claim) { c.Slot = 0 },
		"no lease":          func(c *pluginapi.Claim) { c.Lease = 0 },
		"no attempts":       func(c *pluginapi.Claim) { c.MaxAttempts = 0 },
		"negative max_late": func(c *pluginapi.Claim) { c.MaxLate = -1 },
		"unknown overlap":   func(c *pluginapi.Claim) { c.Overlap = 7 },
	}
	var batch []pluginapi.Claim
	var spoilt []string // "" for the valid ones
	for what, f := range spoil {
		invalid := t.claim(t.job("." + letters(len(batch))))
		f(&invalid)
		batch = append(batch, invalid, t.claim(t.job("."+letters(len(batch)+1))))
		spoilt = append(spoilt, what, "")
	}
	for i, part := range slices.Collect(slices.Chunk(batch, t.maxBatch())) {
		for k, got := range t.claimAll(ctx, a, part...) {
			what := spoilt[i*t.maxBatch()+k]
			switch {
			case what == "":
				t.expect(got, pluginapi.Won, "a valid neighbour")
			case got.Err == nil:
				t.errorf("%s: got %s, want an error", what, got.Verdict)
			case got.Err.Code != pluginapi.Invalid || got.Verdict != 0:
				t.errorf("%s: got %s and verdict %d, want invalid and no verdict", what, got.Err.Code, got.Verdict)
			}
		}
	}
}

func sameTokenTwice(ctx context.Context, t *trial) {
	a, _ := t.pair()
	c := t.claim(t.job(""))
	for _, got := range t.claimAll(ctx, a, c, c) {
		t.expectAttempt(got, pluginapi.Won, 1, "the same claim twice")
	}
}

func twoTokensInOneBatch(ctx context.Context, t *trial) {
	a, _ := t.pair()
	c := t.claim(t.job(""))
	won := 0
	for _, got := range t.claimAll(ctx, a, c, t.rival(c), t.rival(c)) {
		if got.Verdict == pluginapi.Won {
			won++
		} else {
			t.expect(got, t.taken(), "a claim that doesn't win")
		}
	}
	if won != 1 {
		t.errorf("got %d winners in the batch, want 1", won)
	}
}

func twoSlotsInOneBatch(ctx context.Context, t *trial) {
	a, _ := t.pair()
	first := t.claim(t.job(""))
	first.Overlap = pluginapi.OverlapSkip
	second := t.rival(first)
	second.Slot++
	won := 0
	for _, got := range t.claimAll(ctx, a, first, second) {
		if got.Verdict == pluginapi.Won {
			won++
		} else {
			t.expect(got, pluginapi.Overlapping, "the slot that doesn't win")
		}
	}
	if won != 1 {
		t.errorf("got %d live runs of a job that skips, want 1", won)
	}
}

func leaseBatches(ctx context.Context, t *trial) {
	a, b := t.leases()
	held, other := t.claim(t.job(".a")), t.claim(t.job(".b"))
	t.claimAll(ctx, a, held, other)

	heartbeat := func(c pluginapi.Claim) pluginapi.Heartbeat {
		return pluginapi.Heartbeat{Job: c.Job, Slot: c.Slot, Token: c.Token, Lease: long}
	}
	beats, err := b.Heartbeat(ctx, []pluginapi.Heartbeat{
		heartbeat(t.rival(held)), heartbeat(other), {Job: held.Job, Slot: held.Slot}, heartbeat(held),
	})
	if err != nil || len(beats) != 4 {
		t.fatalf("heartbeats: %d answers, %v; want 4", len(beats), err)
	}
	for i, want := range []pluginapi.Verdict{pluginapi.Lost, pluginapi.Won, 0, pluginapi.Won} {
		t.expectItem("heartbeat", i, beats[i].Verdict, want, beats[i].Err)
	}

	finish := func(c pluginapi.Claim) pluginapi.Finish {
		return pluginapi.Finish{Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: pluginapi.Succeeded}
	}
	ends, err := b.Finish(ctx, []pluginapi.Finish{
		finish(t.rival(held)), finish(other), {Job: held.Job, Slot: held.Slot, Token: held.Token}, finish(held), finish(held),
	})
	if err != nil || len(ends) != 5 {
		t.fatalf("finishes: %d answers, %v; want 5", len(ends), err)
	}
	for i, want := range []pluginapi.Verdict{pluginapi.Lost, pluginapi.Done, 0, pluginapi.Done, pluginapi.Done} {
		t.expectItem("finish", i, ends[i].Verdict, want, ends[i].Err)
	}
}

// expectItem reports an item with another verdict than the one wanted; 0 wants an Invalid
// error instead.
func (t *trial) expectItem(what string, i int, got, want pluginapi.Verdict, err *pluginapi.Error) {
	switch {
	case want == 0 && (err == nil || err.Code != pluginapi.Invalid):
		t.errorf("%s %d of the batch: got %s and error %v, want an invalid error", what, i, got, err)
	case want != 0 && (err != nil || got != want):
		t.errorf("%s %d of the batch: got %s and error %v, want %s", what, i, got, err, want)
	}
}
