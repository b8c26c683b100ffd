package timing_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/timing"
)

// TestStart_looks_back: an instance's first jobs have the slots of the last max_late, and none before.
func TestStart_looks_back(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		w.clock("2026-05-05T10:01:00Z")
		j := newJob(t, "j", "*/20 * * * * *")
		off := newJob(t, "off", "*/20 * * * * *")
		off.Enabled = false
		w.engine.Set([]*job.Job{j, off})
		w.start()
		w.pass(time.Second)
		want := []string{"j@20260505T100020Z", "j@20260505T100040Z", "j@20260505T100100Z"}
		if got := runs(w.taken()); !slices.Equal(got, want) {
			t.Errorf("handed over %v; want %v", got, want)
		}
	})
}

// TestSet_new_job: a job that comes later has slots only after it came.
func TestSet_new_job(t *testing.T) {
	inWorld(t, timing.Options{}, func(w *world) {
		t := w.t
		w.engine.Set(nil)
		w.start()
		w.pass(10 * time.Second)
		w.engine.Set([]*job.Job{newJob(t, "j", "*/10 * * * * *")})
		w.pass(25 * time.Second)
		want := []string{"j@20000101T000020Z", "j@20000101T000030Z"}
		if got := runs(w.taken()); !slices.Equal(got, want) {
			t.Errorf("handed over %v; want %v", got, want)
		}
	})
}

// TestSet_changed_job: what a job waits for stays unless its slots, or who decides them, have changed.
func TestSet_changed_job(t *testing.T) {
	tests := map[string]struct {
		change func(*job.Job)
		want   []string
	}{
		"nothing":  {func(*job.Job) {}, []string{"j@20000101T000000Z", "j@20000101T000100Z"}},
		"command":  {func(j *job.Job) { j.Exec.Command = []string{"b"} }, []string{"j@20000101T000000Z", "j@20000101T000100Z"}},
		"jitter":   {func(j *job.Job) { j.Jitter = 0 }, []string{"j@20000101T000000Z", "j@20000101T000100Z"}},
		"schedule": {func(j *job.Job) { j.Schedule = newJob(t, "j", "*/30 * * * * *").Schedule }, []string{"j@20000101T000030Z", "j@20000101T000100Z"}},
		"store":    {func(j *job.Job) { j.Store = "other" }, []string{"j@20000101T000100Z"}},
		"disabled": {func(j *job.Job) { j.Enabled = false }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := timing.Options{}
			o.SetSeed(1)
			inWorld(t, o, func(w *world) {
				t := w.t
				before := newJob(t, "j", "* * * * *")
				before.Jitter = 29 * time.Second
				w.engine.Set([]*job.Job{before})
				w.start()
				w.pass(time.Millisecond) // the slot of 00:00:00 waits for the end of its delay
				now := newJob(t, "j", "* * * * *")
				now.Jitter = before.Jitter
				test.change(now)
				w.engine.Set([]*job.Job{now})
				w.pass(89 * time.Second)
				handed := w.taken()
				if got := runs(handed); !slices.Equal(got, test.want) {
					t.Errorf("handed over %v; want %v", got, test.want)
				}
				for _, h := range handed {
					if h.Job != now {
						t.Errorf("%s was handed over with the job of before", h.Slot.Time())
					}
				}
			})
		})
	}
}

// TestSet_remembers_slots: a job that is changed, or was away, doesn't get a slot again, though the
// clock was put back meanwhile.
func TestSet_remembers_slots(t *testing.T) {
	for _, name := range []string{"changed", "disabled", "taken away"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, timing.Options{}, func(w *world) {
				t := w.t
				w.clock("2026-05-05T10:00:30Z")
				other, j := newJob(t, "a", "0 0 1 1 *"), newJob(t, "j", "*/5 * * * *")
				w.engine.Set([]*job.Job{other, j})
				w.start()
				w.pass(time.Hour) // 11:00:30
				before := w.taken()
				w.stepClock(-time.Hour) // 10:00:30
				off := *j
				off.Enabled = false
				switch name {
				case "disabled":
					w.engine.Set([]*job.Job{other, &off})
				case "taken away":
					w.engine.Set([]*job.Job{other})
				}
				w.pass(time.Minute)
				w.engine.Set([]*job.Job{other, newJob(t, "j", "* * * * *")})
				w.pass(2 * time.Hour) // 12:01:30
				after := w.taken()
				isOnce(t, append(before, after...))
				if len(after) != 61 || runs(after)[0] != "j@20260505T110100Z" {
					t.Errorf("handed over %v; want each minute from 11:01 to 12:01", runs(after))
				}
			})
		})
	}
}

// TestSet_often: twenty reloads a second, of jobs that are the same, lose nothing and double nothing.
func TestSet_often(t *testing.T) {
	for _, shards := range []int{1, 2} {
		t.Run(fmt.Sprint("shards ", shards), func(t *testing.T) {
			inWorld(t, timing.Options{Shards: shards}, func(w *world) {
				t := w.t
				const many, seconds = 50, 30
				load := func(n int) []*job.Job {
					var jobs []*job.Job
					for i := range many {
						j := newJob(t, fmt.Sprint("j", i), "* * * * * *")
						j.Jitter = 400 * time.Millisecond
						jobs = append(jobs, j)
					}
					// One comes and goes, in the middle of the others.
					if n%2 == 1 {
						jobs = append(jobs, newJob(t, "j10x", "0 0 1 1 *"))
					}
					if n%3 == 1 { // another order of the files
						slices.Reverse(jobs)
					}
					return jobs
				}
				w.engine.Set(load(0))
				w.stepClock(500 * time.Millisecond)
				stop := w.start()
				from := job.Slot(w.now().UnixMilli())
				for n := range seconds * 20 {
					w.pass(50 * time.Millisecond)
					w.engine.Set(load(n))
				}
				w.pass(0)
				stop()
				handed := w.taken()
				isOnce(t, handed)
				handed = slices.DeleteFunc(handed, func(h hand) bool { return h.Slot < from })
				if want := many * seconds; len(handed) != want {
					t.Errorf("%d slots were handed over; want %d", len(handed), want)
				}
			})
		})
	}
}
