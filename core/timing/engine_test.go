package timing_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/core/timing"
)

func TestNew_names_what_is_wrong(t *testing.T) {
	complete := timing.Options{
		Now: time.Now, Hand: func([]timing.Due) {}, Skip: func(timing.Skipped) {}, Log: slog.New(slog.DiscardHandler),
	}
	tests := map[string]func(*timing.Options){
		"required": func(o *timing.Options) { o.Hand = nil },
		"0 to 64":  func(o *timing.Options) { o.Shards = 65 },
		"-1":       func(o *timing.Options) { o.Shards = -1 },
	}
	for want, spoil := range tests {
		o := complete
		spoil(&o)
		if _, err := timing.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v; want an error with %q", err, want)
		}
	}
	if _, err := timing.New(complete); err != nil {
		t.Errorf("New() = %v; want nil", err)
	}
}

// TestHundred_days: every slot of a hundred days is handed over once, at the very moment, without a
// wait longer than a minute.
func TestHundred_days(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		j := newJob(t, "j", "* * * * *")
		j.Jitter = 20 * time.Second
		w.engine.Set([]*job.Job{j})
		w.start()
		from := job.Slot(w.now().UnixMilli())
		const days = 100
		w.pass(days*24*time.Hour + 30*time.Second)
		handed := w.taken()
		if want := days*24*60 + 1; len(handed) != want {
			t.Fatalf("%d slots were handed over; want %d", len(handed), want)
		}
		for n, h := range handed {
			if want := from + job.Slot(n)*60_000; h.Slot != want {
				t.Fatalf("slot %d is %s; want %s", n, h.Slot.Time(), want.Time())
			}
			if h.now.UnixMilli() != h.At {
				t.Fatalf("%s was handed over at %s; want %s", h.Slot.Time(), h.now, time.UnixMilli(h.At).UTC())
			}
		}
	})
}

// TestIdle: an engine with nothing to do wakes once a minute, beside its start and the set of jobs.
func TestIdle(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		var jobs []*job.Job
		for n := range 10_000 {
			jobs = append(jobs, newJob(t, fmt.Sprint("j", n), "0 0 29 2 *"))
		}
		w.stepClock(12 * time.Hour)
		w.engine.Set(jobs)
		w.start()
		w.pass(24 * time.Hour)
		s := w.engine.Stats()
		if most := int64(24*60 + 2); s.Wakes > most {
			t.Errorf("%d wakes in a day; want at most %d", s.Wakes, most)
		}
		if s.Waiting != 10_000 || s.Lag != 0 || s.Handed != 0 {
			t.Errorf("Stats() = %+v; want 10000 waiting, no lag, nothing handed", s)
		}
	})
}

// TestSame_slots_everywhere: instances that were started at different times hand over the same slots.
func TestSame_slots_everywhere(t *testing.T) {
	berlin, howe := zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe")
	texts := []string{
		"* * * * *", "*/7 * * * *", "30 2 * * *", "15 */5 * * * *", "0 0 L * *", "0 12 * * MON#1", "H H * * *",
		"0 9-17 * * MON-FRI", "@hourly", "@every 7m", "@every 1h13m/5m", "@every 26h", "@at 2000-03-26T03:30:00Z",
	}
	var jobs []*job.Job
	for n, text := range texts {
		for _, z := range []*schedule.Zone{schedule.UTC(), berlin, howe} {
			j := newJob(t, fmt.Sprintf("j%d-%s", n, z), "* * * * *")
			j.Schedule = parse(t, text, schedule.Options{Zone: z, Job: fmt.Sprint("j", n)})
			j.Jitter = 2 * time.Second
			jobs = append(jobs, j)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var worlds []*world
		for range 3 {
			w := newWorld(t, timing.Options{Shards: 1 + len(worlds)})
			w.stepClock(84 * 24 * time.Hour) // 25 March
			w.pass(time.Duration(len(worlds)) * (11*time.Hour + 7*time.Minute + 3*time.Second))
			w.engine.Set(jobs)
			w.start()
			worlds = append(worlds, w)
		}
		begin := worlds[2].now().Add(time.Minute)
		worlds[0].pass(3 * 24 * time.Hour) // over the night on which the clocks of both zones change
		var want []string
		for n, w := range worlds {
			got := runs(slices.DeleteFunc(w.taken(), func(h hand) bool {
				return h.Slot.Time().Before(begin) || h.Slot.Time().After(w.now().Add(-time.Minute))
			}))
			slices.Sort(got)
			if n == 0 {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("instance %d handed over %d slots that aren't instance 0's %d", n, len(got), len(want))
			}
		}
		if len(want) < 3*24*60 {
			t.Errorf("only %d slots were compared", len(want))
		}
	})
}

// TestDST_nights: the nights on which clocks change, in Berlin.
func TestDST_nights(t *testing.T) {
	tests := map[string]struct {
		begin, text string
		want        []string
	}{
		"spring, a time that isn't there": {"2026-03-28T02:00:00Z", "30 2 * * *", []string{"20260329T013000Z", "20260330T003000Z"}},
		"spring, hourly":                  {"2026-03-29T00:30:00Z", "@hourly", []string{"20260329T010000Z", "20260329T020000Z", "20260329T030000Z"}},
		"autumn, a time that is there twice": {"2026-10-24T01:00:00Z", "30 2 * * *", []string{
			"20261025T003000Z", "20261026T013000Z",
		}},
		"autumn, half-hourly": {"2026-10-24T23:45:00Z", "*/30 * * * *", []string{
			"20261025T000000Z", "20261025T003000Z", "20261025T010000Z", "20261025T013000Z", "20261025T020000Z",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			berlin := zone(t, "Europe/Berlin")
			inWorld(t, timing.Options{}, func(w *world) {
				t := w.t
				w.clock(test.begin)
				j := newJob(t, "j", "* * * * *")
				j.Schedule = parse(t, test.text, schedule.Options{Zone: berlin})
				w.engine.Set([]*job.Job{j})
				w.start()
				w.pass(49 * time.Hour)
				got := runs(w.taken())
				if len(got) < len(test.want) {
					t.Fatalf("handed over %v; want %v first", got, test.want)
				}
				for n, want := range test.want {
					if got[n] != "j@"+want {
						t.Errorf("slot %d is %s; want j@%s", n, got[n], want)
					}
				}
			})
		})
	}
}

// TestLast_slot: a job without a further slot waits for nothing.
func TestLast_slot(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		w.engine.Set([]*job.Job{newJob(t, "j", "@at 2000-01-01T00:05:00Z")})
		w.start()
		w.pass(time.Hour)
		if got := runs(w.taken()); !slices.Equal(got, []string{"j@20000101T000500Z"}) {
			t.Errorf("handed over %v; want the one slot", got)
		}
		if s := w.engine.Stats(); s.Waiting != 0 || s.Handed != 1 {
			t.Errorf("Stats() = %+v; want none waiting, one handed", s)
		}
	})
}

// TestWrong_schedule: a schedule that doesn't go forward disables its job loudly, and no other.
func TestWrong_schedule(t *testing.T) {
	o := timing.Options{}
	o.SetNext(func(j *job.Job, after job.Slot) (job.Slot, bool) {
		if j.Name == "bad" && after > job.Slot(time.Date(2000, 1, 1, 0, 3, 0, 0, time.UTC).UnixMilli()) {
			return after, true
		}
		return j.Schedule.Next(after)
	})
	inWorld(t, o, func(w *world) {
		t := w.t
		w.stepClock(time.Second)
		w.engine.Set([]*job.Job{newJob(t, "good", "* * * * *"), newJob(t, "bad", "30 * * * * *")})
		stop := w.start()
		w.pass(10 * time.Minute)
		stop()
		var good, bad int
		for _, h := range w.taken() {
			if h.Job.Name == "good" {
				good++
			} else {
				bad++
			}
		}
		if good != 11 || bad != 5 {
			t.Errorf("%d and %d slots were handed over; want 11 of the good job and 5 of the bad", good, bad)
		}
		if s := w.engine.Stats(); s.Faulty != 1 {
			t.Errorf("Stats().Faulty = %d; want 1", s.Faulty)
		}
		if log := w.log.String(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "job=bad") {
			t.Errorf("the log is %q; want one error that names the job", log)
		}
	})
}

// TestLag: while Hand doesn't return, Stats tell for how long slots have been due.
func TestLag(t *testing.T) {
	var handed int
	o := timing.Options{Hand: func(batch []timing.Due) {
		<-time.After(10 * time.Second)
		handed += len(batch)
	}}
	inWorld(t, o, func(w *world) {
		t := w.t
		w.stepClock(time.Second)
		j := newJob(t, "j", "2 * * * * *")
		j.MaxLate = 500 * time.Millisecond
		w.engine.Set([]*job.Job{j})
		stop := w.start()
		w.pass(4 * time.Second)
		if lag := w.engine.Stats().Lag; lag != 3*time.Second {
			t.Errorf("Lag = %s while Hand has blocked for 3s", lag)
		}
		w.pass(8 * time.Second)
		if lag := w.engine.Stats().Lag; lag != 0 {
			t.Errorf("Lag = %s after Hand has returned; want 0", lag)
		}
		stop()
		if handed != 1 {
			t.Errorf("%d slots were handed over; want 1", handed)
		}
	})
}

// TestMillion_jobs: a million slots of one instant are each handed over once.
func TestMillion_jobs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	seen := make([]uint8, many)
	o := timing.Options{Hand: func(batch []timing.Due) {
		for _, d := range batch {
			seen[d.Job.MaxAttempts]++ // the job's number, see below
		}
	}}
	inWorld(t, o, func(w *world) {
		t := w.t
		w.stepClock(30 * time.Second)
		hourly := parse(t, "@hourly", schedule.Options{})
		jobs := make([]*job.Job, many)
		for n := range jobs {
			jobs[n] = &job.Job{
				Name: fmt.Sprintf("j%07d", n), Enabled: true, Schedule: hourly,
				Timing: job.Timing{Jitter: 2 * time.Second, MaxLate: time.Minute, MaxAttempts: n},
			}
		}
		w.engine.Set(jobs)
		stop := w.start()
		w.pass(time.Hour)
		stop()
		for n, times := range seen {
			if times != 2 { // the one of the last max_late, and one an hour later
				t.Fatalf("job %d had %d slots; want 2", n, times)
			}
		}
	})
}
