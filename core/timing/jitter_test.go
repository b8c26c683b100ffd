package timing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/core/timing"
)

// delays returns the delays of the job's slots in a while, in milliseconds.
func delays(w *world, j *job.Job, d time.Duration) []int64 {
	w.engine.Set([]*job.Job{j})
	w.start()
	w.pass(d)
	var all []int64
	for _, h := range w.taken() {
		all = append(all, h.At-int64(h.Slot))
	}
	return all
}

// TestJitter_is_uniform: each run draws anew, from 0 to jitter, both included.
func TestJitter_is_uniform(t *testing.T) {
	o := timing.Options{}
	o.SetSeed(1)
	inWorld(t, o, func(w *world) {
		t := w.t
		j := newJob(t, "j", "* * * * * *")
		j.Jitter = 9 * time.Millisecond
		var times [10]int
		all := delays(w, j, 10_000*time.Second)
		for _, d := range all {
			times[d]++
		}
		for d, n := range times {
			if n < 900 || n > 1100 { // more than 3 standard deviations; the seed is fixed
				t.Errorf("a delay of %d ms was drawn %d times of %d; want about a tenth", d, n, len(all))
			}
		}
	})
}

// TestJitter_differs: two instances draw different delays.
func TestJitter_differs(t *testing.T) {
	var drawn [2][]int64
	for n := range drawn {
		inWorld(t, timing.Options{}, func(w *world) {
			t := w.t
			j := newJob(t, "j", "* * * * *")
			j.Jitter = 20 * time.Second
			drawn[n] = delays(w, j, time.Hour)
		})
	}
	if slices.Equal(drawn[0], drawn[1]) {
		t.Errorf("both instances drew %v", drawn[0])
	}
}

// TestJitter_ends_before_the_next: however near a zone change brings two slots, the jitter of one ends
// before half of the way to the next.
func TestJitter_ends_before_the_next(t *testing.T) {
	o := timing.Options{}
	o.SetSeed(1)
	inWorld(t, o, func(w *world) {
		t := w.t
		w.clock("2026-03-28T12:00:00Z")
		j := newJob(t, "j", "* * * * *")
		// 02:30 is run at 03:30, a minute before 03:31, and both are an hour and more apart else.
		j.Schedule = parse(t, "30 2 * * *", schedule.Options{Zone: zone(t, "Europe/Berlin")})
		j.Schedule = schedule.Union(j.Schedule, parse(t, "31 3 * * *", schedule.Options{Zone: zone(t, "Europe/Berlin")}))
		j.Jitter, j.MaxLate = 25*time.Minute, time.Hour
		w.engine.Set([]*job.Job{j})
		w.start()
		w.pass(24 * time.Hour)
		handed := w.taken()
		if got, want := runs(handed), []string{"j@20260329T013000Z", "j@20260329T013100Z"}; !slices.Equal(got, want) {
			t.Fatalf("handed over %v; want %v", got, want)
		}
		if delay := handed[0].At - int64(handed[0].Slot); delay >= 30_000 {
			t.Errorf("the first was delayed by %d ms; want less than half a minute", delay)
		}
	})
}
