package instance_test

import (
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/instance"
	"github.com/anarchon-scheduler/anarchon/core/job"
)

func onePlace(o *instance.Options) { o.MaxRunning = 1 }

func twoJobs(t *testing.T) []*job.Job {
	t.Helper()
	return []*job.Job{newJob(t, "first", "0 0 * * *"), newJob(t, "second", "0 0 * * *")}
}

func TestFullInstanceLeavesTheRunToAnother(t *testing.T) {
	inWorld(t, takes(30*time.Second), twoJobs(t), func(w *world) {
		w.due = w.slotsUntil(midnight)
		a, b := w.start("a", onePlace), w.start("b", onePlace)
		pass(time.Second)
		starts := w.starts()
		if len(starts) != 2 || starts[0].instance == starts[1].instance {
			t.Fatalf("got starts %+v; want one on each instance", starts)
		}
		pass(time.Minute)
		for _, n := range []*node{a, b} { // the place became free in time to hear whose the other run was
			totals := n.ledger.Totals()
			if totals[event.Finished] != 1 || totals[event.Taken] != 1 {
				t.Errorf("%s got %v; want one run finished, one taken", n.name, totals)
			}
		}
		w.checkOnce()
	})
}

func TestFullInstanceClaimsWhenAPlaceIsFree(t *testing.T) {
	inWorld(t, takes(30*time.Second), twoJobs(t), func(w *world) {
		w.due = w.slotsUntil(midnight)
		w.start("a", onePlace)
		pass(61 * time.Second)
		w.checkOnce()
		if second := w.second(); second.at != 30*time.Second {
			t.Errorf("the second run began at %s; want 30s, when the first ended", second.at)
		}
	})
}

func TestNoPlaceInTimeIsLate(t *testing.T) {
	inWorld(t, takes(2*time.Minute), twoJobs(t), func(w *world) {
		w.due = w.slotsUntil(midnight)
		n := w.start("a", onePlace)
		pass(90 * time.Second)
		e := n.only()
		if e.Kind != event.Late || e.Delay != w.jobs[0].MaxLate {
			t.Errorf("got %+v; want late, 1m after the slot", e)
		}
		pass(time.Minute)
		if starts := w.starts(); len(starts) != 1 {
			t.Errorf("got starts %+v; want one", starts)
		}
	})
}

func TestWaitForAPlaceReadsTheClockAgain(t *testing.T) {
	jobs := twoJobs(t)
	for _, j := range jobs {
		j.MaxLate = 10 * time.Minute
	}
	inWorld(t, takes(time.Hour), jobs, func(w *world) {
		w.due = w.slotsUntil(midnight)
		n := w.start("a", onePlace, drainTimeout(0))
		pass(90 * time.Second)
		n.ahead.Store(int64(10 * time.Minute))
		pass(time.Minute) // semantics §4.6
		if e := n.only(); e.Kind != event.Late {
			t.Errorf("got %+v; want late", e)
		}
	})
}

func TestStoppedWhileItWaitsForAPlace(t *testing.T) {
	inWorld(t, takes(30*time.Second), twoJobs(t), func(w *world) {
		w.due = w.slotsUntil(midnight)
		n := w.start("a", onePlace)
		pass(time.Second)
		n.stop()
		n.wait()
		totals := n.ledger.Totals()
		if totals[event.Finished] != 1 || totals[event.Stopped] != 1 {
			t.Errorf("got %v; want one run finished, one stopped", totals)
		}
	})
}

func TestFullInstanceTakesNothingOver(t *testing.T) {
	jobs := twoJobs(t)
	inWorld(t, takes(3*time.Minute), jobs, func(w *world) {
		a, b := w.start("a", onePlace), w.start("b", onePlace)
		pass(time.Second)
		a.kill()
		pass(3*time.Minute - 2*time.Second)
		if got := len(w.starts()); got != 2 {
			t.Errorf("got %d starts while %s is full; want the first two", got, b.name)
		}
		pass(time.Minute)
		starts := w.starts()
		if last := starts[len(starts)-1]; len(starts) != 3 || last.instance != b.name || last.number != 2 {
			t.Errorf("got starts %+v; want a takeover by %s once it has a place", starts, b.name)
		}
	})
}
