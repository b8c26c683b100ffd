package claim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// settings are those of semantics §4.5.
var settings = []struct {
	name             string
	lease, heartbeat time.Duration
}{
	{"default", 30 * time.Second, 5 * time.Second},
	{"fast", 6 * time.Second, time.Second},
	{"patient", 120 * time.Second, 5 * time.Second},
}

// perSetting runs a test in a bubble and a world of its own for each of the settings.
func perSetting(t *testing.T, test func(w *world, j *job.Job)) {
	t.Helper()
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJob("a")
				j.Lease, j.Heartbeat = s.lease, s.heartbeat
				test(newWorld(t), j)
			})
		})
	}
}

func finish(t *testing.T, hold *claim.Hold) {
	t.Helper()
	if err := hold.Finish(t.Context(), pluginapi.Succeeded, 0, ""); err != nil {
		t.Errorf("finish: %v", err)
	}
}

// lost waits for the end of the work's context, and then expects the hold to report nothing.
func lost(t *testing.T, hold *claim.Hold) {
	t.Helper()
	<-hold.Context().Done()
	if cause := context.Cause(hold.Context()); !errors.Is(cause, claim.ErrLost) {
		t.Errorf("the work was stopped by %v, want ErrLost", cause)
	}
	if err := hold.Finish(t.Context(), pluginapi.Succeeded, 0, ""); !errors.Is(err, claim.ErrLost) {
		t.Errorf("finish: got %v, want ErrLost", err)
	}
}

func TestHoldKeepsItsLeaseAlive(t *testing.T) {
	perSetting(t, func(w *world, j *job.Job) {
		t := w.t
		slot := slotNow()
		hold := win(t, w.instance("one"), j, slot)
		for began := time.Now(); time.Since(began) < 20*time.Minute; <-time.After(777 * time.Millisecond) {
			run, _ := w.run(t, j, slot)
			if run.LeaseLeft < j.Lease-j.Heartbeat {
				t.Fatalf("after %s: %s of the lease left, want at least %s", time.Since(began), run.LeaseLeft, j.Lease-j.Heartbeat)
			}
		}
		if err := hold.Context().Err(); err != nil {
			t.Errorf("the work was stopped: %v", err)
		}
		finish(t, hold)
	})
}

func TestHoldSurvivesHeartbeatsThatFail(t *testing.T) {
	for _, f := range []fate{refused, requestLost, replyLost, hangs} {
		perSetting(t, func(w *world, j *job.Job) {
			t := w.t
			one := w.instance("one")
			hold := win(t, one, j, slotNow())
			began := time.Now()
			one.link.set(func(string) fate {
				if time.Since(began) < j.Lease/2 {
					return f
				}
				return arrives
			})
			<-time.After(2 * j.Lease)
			if err := hold.Context().Err(); err != nil {
				t.Errorf("fate %d for half a lease stopped the work", f)
			}
			finish(t, hold)
		})
	}
}

// A holder that is cut off stops its work before the lease ends on the store's clock.
func TestCutOffHolderStopsInTime(t *testing.T) {
	for _, f := range []fate{refused, requestLost, hangs, nonsense} {
		perSetting(t, func(w *world, j *job.Job) {
			t := w.t
			slot, one := slotNow(), w.instance("one")
			hold := win(t, one, j, slot)
			<-time.After(10*j.Heartbeat + j.Heartbeat/2)
			one.link.set(always(f, "heartbeat"))
			lost(t, hold)
			run, _ := w.run(t, j, slot)
			if need := hold.Grace() + j.Lease/20; run.LeaseLeft != need {
				t.Errorf("told to stop %s before the lease's end, want %s", run.LeaseLeft, need)
			}
			if run.Outcome != 0 {
				t.Errorf("a lost run was reported as %s", run.Outcome)
			}
		})
	}
}

func TestGraceFitsTheLease(t *testing.T) {
	perSetting(t, func(w *world, j *job.Job) {
		t := w.t
		hold := win(t, w.instance("one"), j, slotNow())
		if got, want := hold.Grace(), min(j.KillAfter, j.Lease/6); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		finish(t, hold)
	})
}

// The deadline, which a process that outlives this one keeps, is always before the lease's
// end on the store, and is told anew with each extension.
func TestDeadlineMovesWithTheLease(t *testing.T) {
	perSetting(t, func(w *world, j *job.Job) {
		t := w.t
		slot, one, began := slotNow(), w.instance("one"), time.Now()
		one.link.delay = func(string) time.Duration { return j.Heartbeat / 10 }
		hold := win(t, one, j, slot)
		last := time.Duration(0)
		for range 50 {
			<-hold.Extended()
			run, _ := w.run(t, j, slot)
			end := time.Since(began) + run.LeaseLeft
			switch got := hold.Deadline(); {
			case got <= last:
				t.Fatalf("the deadline went from %s to %s", last, got)
			case got > end-j.Lease/20:
				t.Fatalf("the deadline is %s, and the lease ends at %s", got, end)
			default:
				last = got
			}
		}
		finish(t, hold)
	})
}

func TestHold(t *testing.T) {
	for _, c := range holdCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.test(newWorld(t)) })
		})
	}
}

var holdCases = []struct {
	name string
	test func(w *world)
}{
	{"fenced_holder_stops_at_its_next_heartbeat", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		w.ahead.Store(int64(j.Lease + time.Second)) // the store's clock steps
		answer := w.instance("two").Takeover(t.Context(), j, slot)
		want(t, "takeover", answer, event.Won)
		began := time.Now()
		lost(t, hold)
		if took := time.Since(began); took > j.Heartbeat {
			t.Errorf("took %s to notice", took)
		}
		if answer.Attempt != 2 || answer.Hold.Context().Err() != nil {
			t.Errorf("the new holder: attempt %d, %v", answer.Attempt, answer.Hold.Context().Err())
		}
		finish(t, answer.Hold)
	}},
	{"frozen_holder_is_fenced_and_stops_when_it_wakes", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		<-time.After(time.Second)
		w.freeze(one, time.Hour)
		answer := w.instance("two").Takeover(t.Context(), j, slot)
		want(t, "takeover", answer, event.Won)
		began := time.Now()
		lost(t, hold)
		if took := time.Since(began); took > j.Lease/20 {
			t.Errorf("took %s after the freeze to stop", took)
		}
		if n := one.link.sent("heartbeat"); n != 0 {
			t.Errorf("sent %d heartbeats for a run that it no longer counts as its own", n)
		}
		finish(t, answer.Hold)
	}},
	{"short_freeze_of_a_cut_off_holder_does_not_outlast_the_lease", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		one.link.set(always(requestLost))
		<-time.After(2 * time.Second)
		w.freeze(one, 21*time.Second)
		lost(t, hold)
		if run, _ := w.run(t, j, slot); run.LeaseLeft < hold.Grace() {
			t.Errorf("stopped with %s of the lease left, want at least the grace of %s", run.LeaseLeft, hold.Grace())
		}
	}},
	{"on_lost_continue_leaves_the_work_alone", func(w *world) {
		t := w.t
		j, slot, one := newJob("a"), slotNow(), w.instance("one")
		j.OnLost = job.Continue
		hold := win(t, one, j, slot)
		one.link.set(always(refused))
		<-time.After(2 * j.Lease)
		if hold.Context().Err() != nil || hold.Deadline() != 0 {
			t.Errorf("context: %v, deadline: %s", hold.Context().Err(), hold.Deadline())
		}
		one.link.set(nil)
		if err := hold.Finish(t.Context(), pluginapi.Succeeded, 0, ""); !errors.Is(err, claim.ErrLost) {
			t.Errorf("finish: got %v, want ErrLost", err)
		}
		if run, _ := w.run(t, j, slot); run.Outcome != 0 {
			t.Errorf("a lost run was reported as %s", run.Outcome)
		}
	}},
	{"heartbeats_go_on_when_acquire_s_context_has_ended", func(w *world) {
		t := w.t
		j, slot := newJob("a"), slotNow()
		ctx, cancel := context.WithCancel(t.Context())
		answer := w.instance("one").Acquire(ctx, j, slot)
		want(t, "answer", answer, event.Won)
		cancel()
		<-time.After(10 * j.Lease)
		if run, _ := w.run(t, j, slot); run.LeaseLeft < j.Lease-j.Heartbeat || answer.Hold.Context().Err() != nil {
			t.Errorf("%s of the lease left; context %v", run.LeaseLeft, answer.Hold.Context().Err())
		}
		finish(t, answer.Hold)
	}},
	{"gate_store_gets_no_heartbeat_and_no_finish", func(w *world) {
		t := w.t
		j, one := newJob("a"), w.add("one", pluginapi.Gate)
		hold := win(t, one, j, slotNow())
		<-time.After(10 * j.Lease)
		if hold.Context().Err() != nil || hold.Deadline() != 0 || hold.Attempt() != 1 {
			t.Errorf("context: %v, deadline: %s, attempt: %d", hold.Context().Err(), hold.Deadline(), hold.Attempt())
		}
		finish(t, hold)
		if n := one.link.sent("heartbeat") + one.link.sent("finish"); n != 0 {
			t.Errorf("got %d heartbeats and finishes, want none", n)
		}
	}},
	{"gate_store_can_not_release", func(w *world) {
		t := w.t
		hold := win(t, w.add("one", pluginapi.Gate), newJob("a"), slotNow())
		if err := hold.Release(t.Context()); err == nil || pluginapi.CodeOf(err) != pluginapi.Unsupported {
			t.Errorf("got %v, want Unsupported", err)
		}
	}},
	{"answer_that_comes_after_the_loss_changes_nothing", func(w *world) {
		t := w.t
		one := w.instance("one")
		hold := win(t, one, newJob("a"), slotNow())
		hung := make(chan struct{})
		one.link.set(func(string) fate { <-hung; return answersLate })
		<-hold.Context().Done()
		before := hold.Deadline()
		close(hung)
		synctest.Wait()
		if after := hold.Deadline(); after != before {
			t.Errorf("the deadline went from %s to %s", before, after)
		}
		lost(t, hold)
	}},
}

// A store that ignores its contexts can't keep the work from being stopped.
func TestHangingStoreDoesNotHoldUpTheStop(t *testing.T) {
	perSetting(t, func(w *world, j *job.Job) {
		t := w.t
		slot, one := slotNow(), w.instance("one")
		hold := win(t, one, j, slot)
		hung := make(chan struct{})
		one.link.set(func(string) fate { <-hung; return refused })
		<-hold.Context().Done()
		run, _ := w.run(t, j, slot)
		if need := hold.Grace() + j.Lease/20; run.LeaseLeft != need {
			t.Errorf("told to stop %s before the lease's end, want %s", run.LeaseLeft, need)
		}
		close(hung)
		lost(t, hold)
	})
}

// Two instances, many slots: each is won exactly once.
func TestEverySlotIsWonOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		j := newJob("a")
		j.Overlap = job.Allow
		slot := slotNow()
		kinds := make(chan event.Kind)
		ins := []*instance{w.instance("one"), w.instance("two"), w.instance("three")}
		const slots = 2000
		for i := range slots {
			for _, in := range ins {
				go func() {
					answer := in.Acquire(t.Context(), j, slot+job.Slot(i))
					if answer.Hold != nil {
						finish(t, answer.Hold)
					}
					kinds <- answer.Kind
				}()
			}
		}
		got := map[event.Kind]int{}
		for range slots * len(ins) {
			got[<-kinds]++
		}
		want := map[event.Kind]int{event.Won: slots, event.Taken: slots * (len(ins) - 1)}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
