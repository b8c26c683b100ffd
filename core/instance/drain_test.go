package instance_test

import (
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/instance"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func drainTimeout(d time.Duration) func(*instance.Options) {
	return func(o *instance.Options) { o.DrainTimeout = d }
}

func TestDrainLetsARunEndBeyondItsLease(t *testing.T) {
	inWorld(t, takes(5*time.Minute), daily(t), func(w *world) {
		a, b := w.start("a", drainTimeout(time.Hour)), w.start("b", drainTimeout(time.Hour))
		pass(time.Second)
		holder, backup := w.holder(a, b)
		holder.stop()
		holder.wait()
		if got := sinceMidnight(); got != 5*time.Minute {
			t.Errorf("Run returned at %s; want at the end of the work, 5m", got)
		}
		if e := holder.only(); e.Kind != event.Finished || e.Outcome != "succeeded" {
			t.Errorf("got %+v; want it finished and succeeded", e)
		}
		pass(time.Minute)
		if got := backup.only().Kind; got != event.Taken {
			t.Errorf("%s got %s; want taken, and no takeover", backup.name, got)
		}
		w.holder(a, b) // one start
	})
}

func TestDrainingInstanceClaimsNothing(t *testing.T) {
	j := newJob(t, "minutely", "* * * * *")
	j.Overlap = job.Allow
	j.MaxLate = 30 * time.Second
	inWorld(t, takes(90*time.Second), []*job.Job{j}, func(w *world) {
		n := w.start("a", drainTimeout(time.Hour))
		pass(time.Second)
		n.stop()
		n.wait()
		if got := sinceMidnight(); got != 90*time.Second {
			t.Errorf("Run returned at %s; want 1m30s", got)
		}
		if got := n.only().Kind; got != event.Finished {
			t.Errorf("got %s; want only the run of midnight, finished", got)
		}
	})
}

func TestDrainTimeoutHandsTheRunOver(t *testing.T) {
	jobs := daily(t, func(j *job.Job) { j.MaxAttempts = 1 }) // what is given up isn't counted
	inWorld(t, takes(5*time.Minute), jobs, func(w *world) {
		a, b := w.start("a", drainTimeout(10*time.Second)), w.start("b", drainTimeout(10*time.Second))
		pass(time.Second)
		holder, backup := w.holder(a, b)
		holder.stop()
		holder.wait()
		released := sinceMidnight()
		if released != 11*time.Second {
			t.Errorf("Run returned at %s; want 11s, when the patience ended", released)
		}
		if e := holder.only(); e.Kind != event.Released || e.Reason != "the instance is being stopped" {
			t.Errorf("got %+v; want released", e)
		}
		pass(10 * time.Minute)
		second := w.second()
		if after, limit := second.at-released, 2*w.jobs[0].Heartbeat; second.instance != backup.name || after > limit {
			t.Errorf("got start %+v; want it on %s within %s of the release", second, backup.name, limit)
		}
		if run := w.stored(); run.Outcome != pluginapi.Succeeded || !run.Attempts[0].Released {
			t.Errorf("got %+v; want it to have succeeded after a release", run)
		}
	})
}

func TestHurryEndsTheDrain(t *testing.T) {
	inWorld(t, takes(5*time.Minute), daily(t), func(w *world) {
		n := w.start("a", drainTimeout(time.Hour))
		pass(time.Second)
		n.stop()
		pass(time.Minute)
		n.Hurry()
		n.Hurry()
		n.wait()
		if got := sinceMidnight(); got != 61*time.Second {
			t.Errorf("Run returned at %s; want 1m1s, at once", got)
		}
		if got := n.only().Kind; got != event.Released {
			t.Errorf("got %s; want released", got)
		}
	})
}

func TestReleaseIsNotWaitedForLong(t *testing.T) {
	inWorld(t, takes(5*time.Minute), daily(t), func(w *world) {
		n := w.start("a", drainTimeout(0))
		pass(11 * time.Second) // after a heartbeat, so that the lease outlives the end
		n.link.cut()
		n.stop()
		n.wait()
		if got := sinceMidnight(); got > 17*time.Second {
			t.Errorf("Run returned at %s; want it within 6s of the stop", got)
		}
		if got := n.only().Kind; got != event.Released {
			t.Errorf("got %s; want released", got)
		}
	})
}

// A gate store can't take a run back: what is stopped ends here.
func TestDrainOnAGateStoreEndsTheRun(t *testing.T) {
	gate := func(o *instance.Options) { o.Kind, o.DrainTimeout = pluginapi.Gate, time.Second }
	inWorld(t, takes(5*time.Minute), daily(t), func(w *world) {
		a, b := w.start("a", gate), w.start("b", gate)
		pass(time.Second)
		holder, backup := w.holder(a, b)
		holder.stop()
		holder.wait()
		if e := holder.only(); e.Kind != event.Finished || e.Outcome != "interrupted" {
			t.Errorf("got %+v; want it finished as interrupted", e)
		}
		pass(10 * time.Minute)
		if got := backup.only().Kind; got != event.Taken {
			t.Errorf("%s got %s; want taken", backup.name, got)
		}
	})
}

func TestStoppedBeforeItBegan(t *testing.T) {
	inWorld(t, takes(time.Second), daily(t), func(w *world) {
		n := w.start("a")
		n.Hurry()
		n.stop()
		n.wait() // its books are checked at the end
	})
}
