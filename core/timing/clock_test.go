package timing_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/timing"
)

// TestClock_steps: whatever the clock does, no slot comes twice or too early, and each is either
// handed over or reported as skipped.
func TestClock_steps(t *testing.T) {
	for _, step := range []time.Duration{
		time.Second, -time.Second, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour,
	} {
		t.Run(step.String(), func(t *testing.T) {
			inWorld(t, timing.Options{}, func(w *world) {
				t := w.t
				w.clock("2026-05-05T00:00:30Z")
				j := newJob(t, "j", "*/2 * * * *")
				j.Jitter = 2 * time.Second
				w.engine.Set([]*job.Job{j})
				stop := w.start()
				w.pass(10*time.Minute + 3*time.Second)
				w.stepClock(step)
				w.pass(48 * time.Hour)
				w.stepClock(-step)
				w.pass(48 * time.Hour)
				stop()

				handed := w.taken() // checks that none was early or late
				isOnce(t, handed)
				slots := len(handed)
				for _, s := range w.skipped {
					slots += s.Count
				}
				span := handed[len(handed)-1].Slot - handed[0].Slot
				if want := int(span/120_000) + 1; slots != want {
					t.Errorf("%d slots were handed over or skipped; want %d: all from the first to the last", slots, want)
				}
				want := []timing.Step{{Wall: step}, {Wall: -step}}
				if !slices.Equal(w.steps, want) {
					t.Errorf("noticed the steps %v; want %v", w.steps, want)
				}
			})
		})
	}
}

// TestClock_put_back: a slot isn't asked for again when the clock comes by once more.
func TestClock_put_back(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		w.clock("2026-05-05T10:00:30Z")
		w.engine.Set([]*job.Job{newJob(t, "j", "0 * * * *")})
		w.start()
		w.pass(30 * time.Minute)
		w.pass(30 * time.Minute) // 11:00:30
		w.stepClock(-time.Hour)  // 10:00:30
		w.pass(2 * time.Hour)    // 12:00:30
		want := []string{"j@20260505T100000Z", "j@20260505T110000Z", "j@20260505T120000Z"}
		if got := runs(w.taken()); !slices.Equal(got, want) {
			t.Errorf("handed over %v; want %v", got, want)
		}
	})
}

// TestSlewed: a clock that NTP slews is no step.
func TestSlewed(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		w.start()
		for range 1000 {
			w.pass(time.Minute)
			w.stepClock(30 * time.Millisecond)
		}
		if len(w.steps) != 0 {
			t.Errorf("noticed the steps %v; want none", w.steps)
		}
	})
}

// TestSuspend: after a night's sleep the slots that aren't late yet are handed over, within a minute,
// the others are one report per job, and the sleep is told from a step.
func TestSuspend(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		w.clock("2026-05-05T22:00:00Z")
		w.stepClock(500 * time.Millisecond)
		w.engine.Set([]*job.Job{newJob(t, "j", "*/20 * * * * *"), newJob(t, "nightly", "30 2 * * *")})
		w.start()
		w.pass(time.Minute)
		before := w.taken()
		w.sleep(8 * time.Hour) // until 06:01:00
		w.pass(time.Minute)
		handed := w.taken()
		// Noticed by the wake for 22:01:20, at 06:01:20: what is at most max_late old then, and a minute more.
		want := []string{
			"j@20260506T060020Z", "j@20260506T060040Z", "j@20260506T060100Z", "j@20260506T060120Z",
			"j@20260506T060140Z", "j@20260506T060200Z",
		}
		if got := runs(handed); !slices.Equal(got, want) {
			t.Errorf("handed over %v; want %v", got, want)
		}
		isOnce(t, append(before, handed...))

		skipped := make(map[string]timing.Skipped)
		for _, s := range w.skipped {
			skipped[s.Job.Name] = s
		}
		if len(w.skipped) != 2 || len(skipped) != 2 {
			t.Fatalf("%d reports of skipped slots; want one of each job", len(w.skipped))
		}
		if s := skipped["nightly"]; s.Count != 1 || s.More || s.First != s.Last {
			t.Errorf("skipped %+v of the nightly job; want its one slot", s)
		}
		s := skipped["j"]
		if s.Count != 1000 || !s.More || s.Last-s.First != 999*20_000 {
			t.Errorf("skipped %d slots from %s to %s, more: %t; want 1000 and more", s.Count, s.First.Time(), s.Last.Time(), s.More)
		}
		if want := []timing.Step{{Asleep: 8 * time.Hour}}; !slices.Equal(w.steps, want) {
			t.Errorf("noticed %v; want %v", w.steps, want)
		}
	})
}

// TestSuspend_of_many_jobs: however many jobs slept through however many slots, the work is bounded.
func TestSuspend_of_many_jobs(t *testing.T) {
	asked := 0
	o := timing.Options{}
	o.SetNext(func(j *job.Job, after job.Slot) (job.Slot, bool) {
		asked++
		return j.Schedule.Next(after)
	})
	inWorld(t, o, func(w *world) {
		t := w.t
		w.stepClock(500 * time.Millisecond)
		minutely, many := newJob(t, "", "* * * * *").Schedule, 5_000
		var jobs []*job.Job
		for n := range many {
			jobs = append(jobs, &job.Job{
				Name: fmt.Sprint("j", n), Enabled: true, Schedule: minutely, Timing: job.Timing{MaxLate: time.Minute},
			})
		}
		w.engine.Set(jobs)
		w.start()
		w.pass(time.Second)
		asked = 0
		w.sleep(365 * 24 * time.Hour)
		w.pass(time.Minute)
		if most := 1_000_000 + 10*many; asked > most {
			t.Errorf("the schedules were asked %d times; want at most %d", asked, most)
		}
		if len(w.skipped) != many {
			t.Errorf("%d reports; want one of each of %d jobs", len(w.skipped), many)
		}
		for _, s := range w.skipped {
			if s.Count < 1 || !s.More {
				t.Fatalf("skipped %+v; want at least 1, and more", s)
			}
		}
		handed := make(map[*job.Job]bool)
		for _, h := range w.taken() {
			handed[h.Job] = true
		}
		if len(handed) != many {
			t.Errorf("%d jobs had a slot after the sleep; want all %d", len(handed), many)
		}
	})
}

// TestWatch_clock: the system's own notice of steps is set up on a real clock, tells of none that
// there isn't, and ends with the engine.
func TestWatch_clock(t *testing.T) {
	handed := make(chan timing.Due, 1)
	var log logged
	engine, err := timing.New(timing.Options{
		Now:        time.Now,
		Hand:       func(batch []timing.Due) { handed <- batch[0] },
		Skip:       func(s timing.Skipped) { t.Errorf("skipped %+v", s) },
		Log:        slog.New(slog.NewTextHandler(&log, nil)),
		WatchClock: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, "j", "* * * * *")
	engine.Set([]*job.Job{j})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	if d := <-handed; d.Job != j { // the slot of the last max_late
		t.Errorf("handed over %+v; want the job's", d)
	}
	if wakes := engine.Stats().Wakes; wakes > 2 {
		t.Errorf("%d wakes; want at most one more than the start", wakes)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run() = %v; want nil", err)
	}
	if log != "" {
		t.Errorf("logged %q; want nothing", log)
	}
}

// logged is what was written.
type logged string

func (l *logged) Write(p []byte) (int, error) {
	*l += logged(p)
	return len(p), nil
}
