package storetest

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func overlapChecks() []Check {
	return []Check{
		{"S71", "Overlap/skip_keeps_one_live", "A new slot of a job that skips is Overlap while another run's lease is live.", leaseStore, skipKeepsOneLive},
		{"S72", "Overlap/ends_with_the_run", "A run that ended, or whose lease ended, is in nobody's way.", leaseStore, overlapEnds},
		{"S73", "Overlap/allow", "A job that allows it has two live runs.", leaseStore, overlapAllowed},
		{"S74", "Overlap/other_jobs", "Runs of other jobs are in nobody's way.", leaseStore, otherJobsDontOverlap},
		{"S75", "Overlap/takeover_waits", "A takeover while another run of the job is live is Overlap, and wins later.", leaseStore, takeoverWaits},
		{"S76", "Overlap/one_live_of_64", "Of 64 concurrent claims of different slots of a job that skips exactly one wins.", leaseStore, oneLiveOf64},
	}
}

// skipping returns claims of two slots of a job that skips.
func (t *trial) skipping() (first, second pluginapi.Claim) {
	first = t.claim(t.job(""))
	first.Overlap = pluginapi.OverlapSkip
	second = t.rival(first)
	second.Slot += 1000
	return first, second
}

func skipKeepsOneLive(ctx context.Context, t *trial) {
	a, b := t.leases()
	first, second := t.skipping()
	t.claimOne(ctx, a, second, pluginapi.Won, "the later slot")
	t.claimOne(ctx, b, first, pluginapi.Overlapping, "the earlier slot while the later one is live")
	t.unrecorded(ctx, a, first, "after an overlap")
	if got := t.heartbeat(ctx, b, first, long); got.Verdict != pluginapi.Lost {
		t.errorf("heartbeat by who was answered overlap: got %s (%v), want lost", got.Verdict, got.Err)
	}
	t.claimOne(ctx, a, second, pluginapi.Won, "the live run's claim sent again")
}

func overlapEnds(ctx context.Context, t *trial) {
	a, b := t.leases()
	first, second := t.skipping()
	third := t.rival(second)
	third.Slot += 1000
	t.claimOne(ctx, a, first, pluginapi.Won, "the first slot")
	t.finish(ctx, a, first, pluginapi.Failed)
	t.claimOne(ctx, b, second, pluginapi.Won, "the second slot after the first run ended")
	t.endLease(ctx, b, second)
	t.claimOne(ctx, a, third, pluginapi.Won, "the third slot after the second run's lease ended")
}

func overlapAllowed(ctx context.Context, t *trial) {
	a, b := t.leases()
	first, second := t.skipping()
	second.Overlap = pluginapi.OverlapAllow
	t.claimOne(ctx, a, first, pluginapi.Won, "the first slot")
	t.claimOne(ctx, b, second, pluginapi.Won, "the second slot, which allows overlap")
}

func otherJobsDontOverlap(ctx context.Context, t *trial) {
	a, b := t.leases()
	first, _ := t.skipping()
	t.claimOne(ctx, a, first, pluginapi.Won, "one job")
	for _, suffix := range []string{".x", ":x", "x"} {
		other := t.rival(first)
		other.Job += suffix
		t.claimOne(ctx, b, other, pluginapi.Won, "another job, "+suffix+" longer")
	}
}

func takeoverWaits(ctx context.Context, t *trial) {
	a, b := t.leases()
	first, second := t.skipping()
	t.claimOne(ctx, a, first, pluginapi.Won, "the first slot")
	t.endLease(ctx, a, first)
	t.claimOne(ctx, b, second, pluginapi.Won, "the second slot after the first run's lease ended")
	backup := t.rival(first)
	t.claimOne(ctx, a, backup, pluginapi.Overlapping, "a takeover while the second run is live")
	t.claimOne(ctx, a, first, pluginapi.Won, "the first holder's claim sent again: nobody replaced it")
	if got := t.finish(ctx, b, second, pluginapi.Succeeded); got.Verdict != pluginapi.Done {
		t.errorf("finish of the second run: got %s (%v), want done", got.Verdict, got.Err)
	}
	got := t.claimOne(ctx, a, backup, pluginapi.Won, "the takeover, asked again after the second run ended")
	t.expectAttempt(got, pluginapi.Won, 2, "the takeover, asked again after the second run ended")
}

func oneLiveOf64(ctx context.Context, t *trial) {
	first, _ := t.skipping()
	a, b := t.pair()
	clients := []pluginapi.Store{a, b}
	type answer struct {
		result pluginapi.ClaimResult
		err    error
	}
	answers := make(chan answer)
	for i := range 64 {
		c := t.rival(first)
		c.Slot -= pluginapi.Slot(1000 * i)
		go func() {
			results, err := insist(ctx, clients[i%2], []pluginapi.Claim{c})
			if err != nil {
				answers <- answer{err: err}
				return
			}
			answers <- answer{result: results[0]}
		}()
	}
	won := 0
	for range 64 {
		got := <-answers
		switch {
		case got.err != nil:
			t.errorf("claim: %v", got.err)
		case got.result.Verdict == pluginapi.Won:
			won++
		default:
			t.expect(got.result, pluginapi.Overlapping, "a slot that doesn't win")
		}
	}
	if won != 1 {
		t.errorf("got %d live runs of a job that skips, want 1", won)
	}
}
