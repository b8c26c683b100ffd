package storetest

import (
	"context"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func clockChecks() []Check {
	return []Check{
		{"S81", "Late/unknown_slot", "A new slot more than max_late + 10 s in the past is Late and nothing is stored.", leaseStore, lateUnknown},
		{"S82", "Late/within_the_slack", "A new slot less than max_late + 10 s in the past is Won.", leaseStore, lateWithinSlack},
		{"S83", "Late/known_run_is_never_late", "Re-sends, backups and takeovers of a known run are never late.", leaseStore, knownIsNeverLate},
		{"S84", "Early/unknown_slot", "A new slot more than 10 s in the future is Early, with how long to wait; nothing is stored.", leaseStore, earlyUnknown},
		{"S85", "Early/within_the_slack", "A new slot less than 10 s in the future is Won.", leaseStore, earlyWithinSlack},
		{"S86", "Clock/slot_is_no_clock", "Whether a lease is live isn't judged by the slot of who asks.", leaseStore, slotIsNoClock},
		{"S87", "Clock/client_is_no_clock", "Whether a lease is live isn't judged by the clock of the client's process.", leaseStore, clientIsNoClock},
		{"S88", "Clock/readings_move_forward", "StoreTime, where the store gives it, is its clock: it doesn't go back.", anyStore, readingsMoveForward},
	}
}

func lateUnknown(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	c.MaxLate = time.Minute
	c.Slot -= pluginapi.Slot((c.MaxLate + pluginapi.ClockSlack + time.Second).Milliseconds())
	t.claimOne(ctx, a, c, pluginapi.Late, "a slot a second beyond max_late + 10 s")
	t.unrecorded(ctx, a, c, "after late")
	patient := t.rival(c)
	patient.MaxLate = long
	t.claimOne(ctx, b, patient, pluginapi.Won, "the same slot with a longer max_late")
}

func lateWithinSlack(ctx context.Context, t *trial) {
	a, _ := t.leases()
	c := t.claim(t.job(""))
	c.MaxLate = time.Minute
	limit := c.MaxLate + pluginapi.ClockSlack
	c.Slot -= pluginapi.Slot((limit - 5*time.Second).Milliseconds())
	got := t.claimAll(ctx, a, c)[0]
	if late := t.now(ctx).Sub(c.Slot.Time()); got.Verdict == pluginapi.Late && late > limit {
		t.skipf("one claim took more than 5 s here: nothing can be said")
	}
	t.expect(got, pluginapi.Won, "a slot 5 s before the limit")
}

func knownIsNeverLate(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	c.Slot -= pluginapi.Slot((30 * time.Minute).Milliseconds())
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim, with a long max_late")
	c.MaxLate = 0
	t.claimOne(ctx, a, c, pluginapi.Won, "the same token with max_late 0")
	t.claimOne(ctx, b, t.rival(c), pluginapi.Running, "another token with max_late 0")
	t.endLease(ctx, a, c)
	taker := t.rival(c)
	t.claimOne(ctx, b, taker, pluginapi.Won, "a takeover with max_late 0")
	t.finish(ctx, b, taker, pluginapi.Succeeded)
	t.claimOne(ctx, a, t.rival(c), pluginapi.Done, "another token with max_late 0 after the run ended")
}

func earlyUnknown(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	c.Overlap = pluginapi.OverlapSkip
	due := c
	c.Slot += pluginapi.Slot(time.Hour.Milliseconds())
	before := t.now(ctx)
	got := t.claimOne(ctx, a, c, pluginapi.Early, "a slot an hour ahead")
	after := t.now(ctx)
	// The wait is cut to milliseconds on its way, hence the one on each side.
	most := c.Slot.Time().Sub(before) - pluginapi.ClockSlack + time.Millisecond
	least := c.Slot.Time().Sub(after) - pluginapi.ClockSlack - time.Millisecond
	if got.Wait < least || got.Wait > most {
		t.errorf("wait: got %s, want from %s to %s", got.Wait, least, most)
	}
	t.unrecorded(ctx, a, c, "after early")
	t.claimOne(ctx, b, t.rival(c), pluginapi.Early, "another token for it")
	t.claimOne(ctx, b, t.rival(due), pluginapi.Won, "the slot that is due: the early one isn't live")
}

func earlyWithinSlack(ctx context.Context, t *trial) {
	a, _ := t.leases()
	c := t.claim(t.job(""))
	c.Slot += pluginapi.Slot((5 * time.Second).Milliseconds())
	t.claimOne(ctx, a, c, pluginapi.Won, "a slot 5 s ahead")
}

func slotIsNoClock(ctx context.Context, t *trial) {
	a, b := t.leases()
	live := t.claim(t.job(""))
	live.Lease, live.Overlap = 8*time.Second, pluginapi.OverlapSkip
	t.claimOne(ctx, a, live, pluginapi.Won, "a lease of 8 s")
	ahead := t.rival(live)
	ahead.Slot += pluginapi.Slot((9 * time.Second).Milliseconds())
	got := t.claimAll(ctx, b, ahead)[0]
	if expired, err := a.Expired(ctx, pluginapi.ExpiredQuery{Jobs: []string{live.Job}}); err != nil || len(expired) > 0 {
		t.skipf("two claims took more than 8 s here: nothing can be said (%v)", err)
	}
	t.expect(got, pluginapi.Overlapping, "a slot 9 s ahead while the lease of 8 s is live")
}

func clientIsNoClock(ctx context.Context, t *trial) {
	if t.target.Skewed == nil || t.target.Binary != "" {
		t.skipf("needs Target.Skewed")
	}
	a, _ := t.leases()
	for _, skew := range []time.Duration{2 * long, -2 * long} {
		c, err := t.configure(ctx, t.target.Skewed(t.log, skew))
		if err != nil {
			t.fatalf("a client with a skewed clock: %v", err)
		}
		t.cleanup(func() { t.closed(context.WithoutCancel(ctx), c.end) })
		skewed := t.asLease(c.Store)
		live, ended := t.claim(t.job(".live"+letters(int(skew/long)+2))), t.claim(t.job(".ended"+letters(int(skew/long)+2)))
		t.claimOne(ctx, a, live, pluginapi.Won, "first claim")
		t.claimOne(ctx, a, ended, pluginapi.Won, "first claim")
		t.endLease(ctx, a, ended)
		t.claimOne(ctx, skewed, t.rival(live), pluginapi.Running, "a live lease, asked by a clock that is off by "+skew.String())
		t.claimOne(ctx, skewed, t.rival(ended), pluginapi.Won, "an ended lease, asked by a clock that is off by "+skew.String())
	}
}

func readingsMoveForward(ctx context.Context, t *trial) {
	a, b := t.pair()
	var last time.Time
	for i := range 4 {
		s := []pluginapi.Store{a, b}[i%2]
		got := t.claimOne(ctx, s, t.claim(t.job("."+letters(i))), pluginapi.Won, "first claim")
		if got.StoreTime.IsZero() {
			t.skipf("the store has no clock to read")
		}
		if got.StoreTime.Before(last.Truncate(time.Millisecond)) {
			t.errorf("store time: got %s after %s", got.StoreTime, last)
		}
		last = got.StoreTime
	}
}
