package instance_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// slotsUntil returns the runs of all jobs that are due on an instance which starts at midnight
// and stops at end: those of the last max_late too.
func (w *world) slotsUntil(end time.Time) []job.Run {
	var runs []job.Run
	for _, j := range w.jobs {
		slot := schedule.SlotOf(midnight.Add(-j.MaxLate))
		for {
			next, ok := j.Schedule.Next(slot)
			if !ok || next.Time().After(end) {
				break
			}
			slot = next
			runs = append(runs, job.Run{Job: j.Name, Slot: slot})
		}
	}
	return runs
}

// checkOnce fails the test for each run that is due and wasn't started exactly once.
func (w *world) checkOnce() {
	w.t.Helper()
	starts := map[job.Run]int{}
	for _, a := range w.starts() {
		starts[a.run]++
	}
	for _, run := range w.due {
		if starts[run] != 1 {
			w.t.Errorf("%s was started %d times; want once", run, starts[run])
		}
		delete(starts, run)
	}
	for run, n := range starts {
		w.t.Errorf("%s was started %d times, and wasn't due", run, n)
	}
}

func TestEachSlotRunsOnceAndEndsOnceOnEachInstance(t *testing.T) {
	minutely := newJob(t, "minutely", "* * * * *")
	minutely.Jitter = 2 * time.Second
	quick := newJob(t, "quick", "*/5 * * * * *")
	quick.Jitter = 1250 * time.Millisecond
	quick.Overlap = job.Allow // at the start, the slots of the last max_late come together
	odd := newJob(t, "odd", "7-59/13 * * * *")
	odd.Jitter = 2 * time.Second
	off := newJob(t, "off", "* * * * *")
	off.Enabled = false

	inWorld(t, takes(3*time.Second), []*job.Job{minutely, quick, odd}, func(w *world) {
		w.due = w.slotsUntil(midnight.Add(time.Hour))
		w.jobs = append(w.jobs, off)
		nodes := []*node{w.start("a"), w.start("b"), w.start("c")}
		pass(time.Hour + 4*time.Second) // the last slots' jitter is over, and no later slot is due
		for _, n := range nodes {
			n.stop()
			n.wait()
		}
		w.checkOnce()
		var finished int64
		for _, n := range nodes {
			if got := len(n.finals()); got != len(w.due) {
				t.Errorf("%s: got %d final events; want %d, one for each slot", n.name, got, len(w.due))
			}
			finished += n.ledger.Totals()[event.Finished]
		}
		if finished != int64(len(w.due)) {
			t.Errorf("got %d runs that finished; want %d", finished, len(w.due))
		}
	})
}

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		rule   job.Overlap
		starts []time.Duration
		want   []event.Kind
	}{
		// A run takes two and a half minutes: the slots at 1 and 2 meet it.
		{job.Skip, []time.Duration{0, 3 * time.Minute}, []event.Kind{event.Overlap, event.Overlap, event.Finished}},
		{job.Allow, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}, []event.Kind{event.Finished}},
	} {
		t.Run(string(test.rule), func(t *testing.T) {
			j := newJob(t, "minutely", "* * * * *")
			j.Overlap = test.rule
			j.MaxLate = 30 * time.Second // nothing of before midnight
			inWorld(t, takes(150*time.Second), []*job.Job{j}, func(w *world) {
				n := w.start("a")
				pass(190 * time.Second)
				var starts []time.Duration
				for _, a := range w.starts() {
					starts = append(starts, a.at)
				}
				if !slices.Equal(starts, test.starts) {
					t.Errorf("got starts at %v; want %v", starts, test.starts)
				}
				if got := n.kinds(); !slices.Equal(got, test.want) {
					t.Errorf("got %v; want %v", got, test.want)
				}
			})
		})
	}
}

func TestSlotsThatTheClockJumpedOverAreLate(t *testing.T) {
	j := newJob(t, "minutely", "* * * * *")
	j.MaxLate = 30 * time.Second
	inWorld(t, takes(time.Second), []*job.Job{j}, func(w *world) {
		n := w.start("a")
		pass(90 * time.Second)
		n.ahead.Store(int64(10 * time.Minute)) // it is 00:11:30; 00:00 and 00:01 have run
		pass(time.Minute)                      // semantics §4.6: noticed within a minute
		last := n.finals()[len(n.finals())-1]
		if last.Kind != event.Late || last.Count != 10 || last.Run.Slot != schedule.SlotOf(midnight.Add(11*time.Minute)) {
			t.Errorf("got %+v; want late for the 10 slots up to 00:11", last)
		}
	})
}
