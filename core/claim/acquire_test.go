package claim_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// acquireCases are behaviours of Acquire, each in a bubble and a world of its own.
var acquireCases = []struct {
	name string
	test func(w *world)
}{
	{"first_claim_wins_and_second_is_taken", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		hold := win(t, w.instance("one"), j, slot)
		defer finish(t, hold)
		answer := w.instance("two").Acquire(t.Context(), j, slot)
		want(t, "second", answer, event.Taken)
		if answer.Holder != "one" || answer.Attempt != 1 || answer.Hold != nil {
			t.Errorf("second: got %+v, want holder one, attempt 1, no hold", answer)
		}
	}},
	{"ended_run_is_taken", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		finish(t, win(t, w.instance("one"), j, slot))
		want(t, "second", w.instance("two").Acquire(t.Context(), j, slot), event.Taken)
	}},
	{"held_run_is_not_claimed_again_by_its_holder", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		want(t, "second", one.Acquire(t.Context(), j, slot), event.Taken)
		if n := one.link.sent("claim"); n != 1 {
			t.Errorf("got %d claims, want 1", n)
		}
		finish(t, hold)
	}},
	{"own_late_check_comes_first", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		one.wall.Store(int64(j.MaxLate + time.Millisecond))
		want(t, "answer", one.Acquire(t.Context(), j, slot), event.Late)
		if n := one.link.sent("claim"); n != 0 {
			t.Errorf("the store was asked %d times for a late slot", n)
		}
	}},
	{"on_the_limit_is_not_late", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		one.wall.Store(int64(j.MaxLate))
		finish(t, win(t, one, j, slot))
	}},
	{"store_says_late", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		w.ahead.Store(int64(j.MaxLate + pluginapi.ClockSlack + time.Millisecond))
		want(t, "answer", one.Acquire(t.Context(), j, slot), event.Late)
	}},
	{"early_asks_again_when_the_store_is_there", func(w *world) {
		t := w.t
		j, one, began := newJob("a"), w.instance("one"), time.Now()
		one.wall.Store(int64(15 * time.Second)) // fast by that much
		hold := win(t, one, j, slotNow()+15_000)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("won after %s, want 5s: the store takes claims from 10 s before the slot", took)
		}
		finish(t, hold)
	}},
	{"fast_by_more_than_max_late_is_late_and_takes_nothing", func(w *world) {
		t := w.t
		j, one := newJob("a"), w.instance("one")
		one.wall.Store(int64(time.Hour))
		slot := slotNow() + 3_600_000
		want(t, "answer", one.Acquire(t.Context(), j, slot), event.Late)
		if _, known := w.run(t, j, slot); known {
			t.Error("the store has a run of tomorrow")
		}
	}},
	{"overlap_is_skipped_unless_allowed", func(w *world) {
		t := w.t
		j, one, two := newJob("a"), w.instance("one"), w.instance("two")
		hold := win(t, one, j, slotNow())
		want(t, "skip", two.Acquire(t.Context(), j, slotNow()+1000), event.Overlap)
		allowing := *j
		allowing.Overlap = job.Allow
		finish(t, win(t, two, &allowing, slotNow()+1000))
		finish(t, hold)
	}},
	{"lost_answer_is_asked_for_again_and_wins_once", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		one.link.set(first(3, replyLost, "claim"))
		hold := win(t, one, j, slot)
		if run, _ := w.run(t, j, slot); len(run.Attempts) != 1 || hold.Attempt() != 1 {
			t.Errorf("got attempts %v, want one", run.Attempts)
		}
		finish(t, hold)
	}},
	{"store_that_hangs_is_asked_again", func(w *world) {
		t := w.t
		one := w.instance("one")
		one.link.set(first(2, hangs, "claim"))
		finish(t, win(t, one, newJob("a"), slotNow()))
	}},
	{"store_down_then_up", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		up := time.Now().Add(50 * time.Second)
		one.link.set(func(string) fate {
			if time.Now().Before(up) {
				return refused
			}
			return arrives
		})
		finish(t, win(t, one, j, slot))
	}},
	{"ambiguous_until_late_is_unknown", func(w *world) {
		t := w.t
		j, slot, one, began := newJob("a"), slotNow(), w.instance("one"), time.Now()
		one.link.set(always(requestLost))
		want(t, "answer", one.Acquire(t.Context(), j, slot), event.Unknown)
		if took := time.Since(began); took <= j.MaxLate || took > j.MaxLate+2*time.Second {
			t.Errorf("gave up after %s, want just after %s", took, j.MaxLate)
		}
	}},
	{"store_down_until_late_is_unknown", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		one.link.set(always(refused))
		answer := one.Acquire(t.Context(), j, slot)
		want(t, "answer", answer, event.Unknown)
		if !strings.Contains(answer.Reason, "nothing was executed") {
			t.Errorf("got reason %q, want it to say that this instance can't have claimed it", answer.Reason)
		}
	}},
	{"store_slower_than_the_lease_allows_starts_nothing", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		j.Lease, j.Heartbeat, j.MaxLate = time.Second, 400*time.Millisecond, 10*time.Second
		one.link.set(func(string) fate { <-time.After(900 * time.Millisecond); return answersLate })
		want(t, "answer", one.Acquire(t.Context(), j, slot), event.Unknown)
	}},
	{"answer_without_a_verdict_is_refused", func(w *world) {
		one := w.instance("one")
		one.link.set(always(nonsense))
		want(w.t, "answer", one.Acquire(w.t.Context(), newJob("a"), slotNow()), event.Refused)
	}},
	{"release_that_fails_after_the_stop_is_told", func(w *world) {
		t := w.t
		one := w.instance("one")
		one.link.set(always(refused, "release"))
		answer := stoppedInFlight(t, one, newJob("a"), slotNow())
		want(t, "answer", answer, event.Released)
		if !strings.Contains(answer.Reason, "waits for the end of its lease") {
			t.Errorf("got reason %q", answer.Reason)
		}
	}},
	{"wrong_claim_is_refused", func(w *world) {
		t := w.t
		one := w.instance("one")
		want(t, "answer", one.Acquire(t.Context(), newJob("NOT A NAME"), slotNow()), event.Refused)
		if n := one.link.sent("claim"); n != 1 {
			t.Errorf("sent %d times, want once", n)
		}
	}},
	{"won_late_starts_after_a_heartbeat", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		back := time.Now().Add(j.Lease + time.Second)
		one.link.set(func(string) fate {
			if time.Now().Before(back) {
				return replyLost
			}
			return arrives
		})
		hold := win(t, one, j, slot)
		if run, _ := w.run(t, j, slot); run.LeaseLeft != j.Lease || len(run.Attempts) != 1 {
			t.Errorf("the work starts with %s of the lease left in attempt %d, want %s in 1", run.LeaseLeft, len(run.Attempts), j.Lease)
		}
		finish(t, hold)
	}},
	{"won_late_and_taken_over_meanwhile_is_taken", func(w *world) {
		t := w.t
		j, slot, one, two := newJob("a"), slotNow(), w.instance("one"), w.instance("two")
		one.link.set(func(string) fate {
			if time.Since(slot.Time()) < j.Lease+time.Second {
				return replyLost
			}
			return arrives
		})
		taken := make(chan struct{})
		go func() {
			defer close(taken)
			<-time.After(j.Lease + time.Millisecond)
			answer := two.Takeover(t.Context(), j, slot)
			want(t, "takeover", answer, event.Won)
			finish(t, answer.Hold)
		}()
		want(t, "first", one.Acquire(t.Context(), j, slot), event.Taken)
		<-taken
	}},
	{"won_late_and_taken_over_before_the_heartbeat_is_taken", func(w *world) {
		t := w.t
		j, slot, one, two := newJob("a"), slotNow(), w.instance("one"), w.instance("two")
		var second claim.Answer
		one.link.set(func(op string) fate {
			switch {
			case op == "heartbeat":
				second = two.Takeover(t.Context(), j, slot)
			case time.Since(slot.Time()) < j.Lease+time.Second:
				return replyLost
			}
			return arrives
		})
		want(t, "first", one.Acquire(t.Context(), j, slot), event.Taken)
		want(t, "takeover", second, event.Won)
		finish(t, second.Hold)
	}},
	{"stopped_before_it_asked", func(w *world) {
		t := w.t
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		one := w.instance("one")
		want(t, "answer", one.Acquire(ctx, newJob("a"), slotNow()), event.Stopped)
		if n := one.link.sent("claim"); n != 0 {
			t.Errorf("asked %d times", n)
		}
	}},
	{"won_after_the_stop_is_released", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		want(t, "answer", stoppedInFlight(t, w.instance("one"), j, slot), event.Released)
		run, _ := w.run(t, j, slot)
		if run.LeaseLeft > 0 || !run.Attempts[0].Released {
			t.Errorf("the store has %+v, want a lease that was given up", run)
		}
	}},
	{"gate_store_can_not_take_it_back", func(w *world) {
		t := w.t
		answer := stoppedInFlight(t, w.add("one", pluginapi.Gate), newJob("a"), slotNow())
		want(t, "answer", answer, event.Won)
		if err := answer.Hold.Context().Err(); err != nil {
			t.Errorf("the work's context has ended: %v", err)
		}
		finish(t, answer.Hold)
	}},
	{"ambiguous_at_the_stop_is_followed_up", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		one.link.set(first(1, replyLost, "claim"))
		want(t, "answer", stoppedInFlight(t, one, j, slot), event.Released)
	}},
	{"silent_store_does_not_hold_up_a_stop", func(w *world) {
		t := w.t
		one, began := w.instance("one"), time.Now()
		one.link.set(always(hangs))
		want(t, "answer", stoppedInFlight(t, one, newJob("a"), slotNow()), event.Stopped)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s to stop", took)
		}
	}},
}

func TestAcquire(t *testing.T) {
	for _, c := range acquireCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.test(newWorld(t)) })
		})
	}
}

// stoppedInFlight ends Acquire's context while its first claim is on its way.
func stoppedInFlight(t *testing.T, in *instance, j *job.Job, slot job.Slot) claim.Answer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in.link.delay = func(string) time.Duration { return 10 * time.Millisecond }
	time.AfterFunc(5*time.Millisecond, cancel)
	return in.Acquire(ctx, j, slot)
}
