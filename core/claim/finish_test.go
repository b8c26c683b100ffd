package claim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func TestEndOfAHold(t *testing.T) {
	for _, c := range endCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.test(newWorld(t)) })
		})
	}
}

var endCases = []struct {
	name string
	test func(w *world)
}{
	{"finish_whose_reply_is_lost_is_written_once", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		one.link.set(first(3, replyLost, "finish"))
		if err := hold.Finish(t.Context(), pluginapi.Failed, 7, "disk full"); err != nil {
			t.Errorf("finish: %v", err)
		}
		run, _ := w.run(t, j, slot)
		if run.Outcome != pluginapi.Failed || run.ExitCode != 7 || run.Detail != "disk full" {
			t.Errorf("got %+v", run)
		}
	}},
	{"finish_that_takes_long_keeps_the_lease", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		up := time.Now().Add(5 * j.Lease)
		one.link.set(func(op string) fate {
			if op == "finish" && time.Now().Before(up) {
				return requestLost
			}
			return arrives
		})
		time.AfterFunc(4*j.Lease, func() {
			want(t, "takeover", w.instance("two").Takeover(t.Context(), j, slot), event.Taken)
		})
		finish(t, hold)
	}},
	{"finish_outlasts_an_outage_and_gets_the_lease_back", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		began := time.Now()
		one.link.set(func(op string) fate {
			if op == "finish" && time.Since(began) < 5*j.Lease || time.Since(began) < 2*j.Lease {
				return requestLost
			}
			return arrives
		})
		time.AfterFunc(3*j.Lease, func() {
			want(t, "takeover", w.instance("two").Takeover(t.Context(), j, slot), event.Taken)
		})
		finish(t, hold)
	}},
	{"finish_after_an_outage_is_written_if_nobody_took_over", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		up := time.Now().Add(10 * j.Lease)
		one.link.set(func(string) fate {
			if time.Now().Before(up) {
				return refused
			}
			return arrives
		})
		finish(t, hold)
		if run, _ := w.run(t, j, slot); run.Outcome != pluginapi.Succeeded {
			t.Errorf("got %s, want succeeded", run.Outcome)
		}
	}},
	{"finish_after_a_takeover_changes_nothing", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		w.ahead.Store(int64(j.Lease + time.Second))
		answer := w.instance("two").Takeover(t.Context(), j, slot)
		want(t, "takeover", answer, event.Won)
		if err := hold.Finish(t.Context(), pluginapi.Failed, 1, ""); !errors.Is(err, claim.ErrLost) {
			t.Errorf("got %v, want ErrLost", err)
		}
		if run, _ := w.run(t, j, slot); run.Outcome != 0 {
			t.Errorf("the fenced finish was written: %s", run.Outcome)
		}
		finish(t, answer.Hold)
	}},
	{"finish_ends_with_its_context", func(w *world) {
		t := w.t
		one := w.instance("one")
		hold := win(t, one, newJob("a"), slotNow())
		one.link.set(always(hangs))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if err := hold.Finish(ctx, pluginapi.Succeeded, 0, ""); err == nil || errors.Is(err, claim.ErrLost) {
			t.Errorf("got %v, want an error that says that nothing is known", err)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %s, want 5s", took)
		}
	}},
	{"second_end_is_an_error", func(w *world) {
		t := w.t
		hold := win(t, w.instance("one"), newJob("a"), slotNow())
		finish(t, hold)
		if hold.Finish(t.Context(), pluginapi.Failed, 0, "") == nil || hold.Release(t.Context()) == nil {
			t.Error("a hold was ended twice")
		}
	}},
	{"long_detail_is_cut_between_characters", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		hold := win(t, w.instance("one"), j, slot)
		detail := "x"
		for range pluginapi.MaxDetail {
			detail += "é"
		}
		if err := hold.Finish(t.Context(), pluginapi.Failed, 1, detail); err != nil {
			t.Fatal(err)
		}
		if run, _ := w.run(t, j, slot); run.Detail != detail[:pluginapi.MaxDetail-1] {
			t.Errorf("got %d bytes, want %d", len(run.Detail), pluginapi.MaxDetail-1)
		}
	}},
	{"released_run_is_taken_over_at_once_and_the_attempt_is_not_counted", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		j.MaxAttempts = 1
		hold := win(t, w.instance("one"), j, slot)
		if err := hold.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Millisecond) // the store's clock has to pass the lease's end
		answer := w.instance("two").Takeover(t.Context(), j, slot)
		want(t, "takeover", answer, event.Won)
		finish(t, answer.Hold)
	}},
	{"release_of_a_run_that_was_taken_over", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		hold := win(t, w.instance("one"), j, slot)
		w.ahead.Store(int64(j.Lease + time.Second))
		answer := w.instance("two").Takeover(t.Context(), j, slot)
		want(t, "takeover", answer, event.Won)
		if err := hold.Release(t.Context()); !errors.Is(err, claim.ErrLost) {
			t.Errorf("got %v, want ErrLost", err)
		}
		finish(t, answer.Hold)
	}},
	{"answer_without_a_verdict_is_an_error", func(w *world) {
		t := w.t
		one := w.instance("one")
		hold := win(t, one, newJob("a"), slotNow())
		one.link.set(always(nonsense))
		if err := hold.Finish(t.Context(), pluginapi.Failed, 1, ""); err == nil || pluginapi.CodeOf(err) != pluginapi.Internal {
			t.Errorf("got %v, want Internal", err)
		}
	}},
	{"release_whose_reply_is_lost", func(w *world) {
		t := w.t
		j, slot, one, two := newJob("a"), slotNow(), w.instance("one"), w.instance("two")
		hold := win(t, one, j, slot)
		one.link.set(first(1, replyLost, "release"))
		answers := make(chan claim.Answer, 1)
		time.AfterFunc(time.Millisecond, func() { answers <- two.Takeover(t.Context(), j, slot) })
		if err := hold.Release(t.Context()); err != nil {
			t.Errorf("release: %v", err)
		}
		answer := <-answers
		want(t, "takeover", answer, event.Won)
		finish(t, answer.Hold)
	}},
	{"release_waits_for_the_heartbeat_under_way", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		one.link.delay = func(op string) time.Duration {
			if op == "heartbeat" {
				return time.Second // it would undo a release that overtakes it
			}
			return 0
		}
		hold := win(t, one, j, slot)
		<-time.After(j.Heartbeat + 100*time.Millisecond)
		if err := hold.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if run, _ := w.run(t, j, slot); run.LeaseLeft > 0 {
			t.Errorf("%s of the lease are left", run.LeaseLeft)
		}
	}},
}
