package job_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

func parse(t *testing.T, text string, o schedule.Options) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fullJob(t *testing.T) *job.Job {
	t.Helper()
	return &job.Job{
		Name: "backup", Description: "nightly", Enabled: true,
		Schedule: parse(t, "30 2 * * *", schedule.Options{}),
		Timing:   job.DefaultTiming(24 * time.Hour),
		Timeout:  time.Hour, KillAfter: 5 * time.Second, Store: "main",
		Exec: job.Exec{Command: []string{"a", "b"}, Dir: "/", Env: map[string]string{"A": "1", "B": "2"}},
	}
}

// TestHash_changes: everything that changes behaviour changes the hash, each in its own way.
func TestHash_changes(t *testing.T) {
	berlin, err := schedule.LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(*job.Job){
		"nothing":  func(*job.Job) {},
		"name":     func(j *job.Job) { j.Name = "other" },
		"enabled":  func(j *job.Job) { j.Enabled = false },
		"schedule": func(j *job.Job) { j.Schedule = parse(t, "31 2 * * *", schedule.Options{}) },
		"zone":     func(j *job.Job) { j.Schedule = parse(t, "30 2 * * *", schedule.Options{Zone: berlin}) },
		"gap": func(j *job.Job) {
			j.Schedule = parse(t, "30 2 * * *", schedule.Options{DST: schedule.DST{Gap: "skip"}})
		},
		"dst overlap": func(j *job.Job) {
			j.Schedule = parse(t, "30 2 * * *", schedule.Options{DST: schedule.DST{Overlap: "both"}})
		},
		"jitter":        func(j *job.Job) { j.Jitter++ },
		"max_late":      func(j *job.Job) { j.MaxLate++ },
		"lease":         func(j *job.Job) { j.Lease++ },
		"heartbeat":     func(j *job.Job) { j.Heartbeat++ },
		"overlap":       func(j *job.Job) { j.Overlap = job.Allow },
		"max_attempts":  func(j *job.Job) { j.MaxAttempts++ },
		"on_lost":       func(j *job.Job) { j.OnLost = job.Continue },
		"timeout":       func(j *job.Job) { j.Timeout++ },
		"kill_after":    func(j *job.Job) { j.KillAfter++ },
		"store":         func(j *job.Job) { j.Store = "other" },
		"command":       func(j *job.Job) { j.Exec.Command = []string{"ab"} },
		"command split": func(j *job.Job) { j.Exec.Command = []string{"a", "b", "/"}; j.Exec.Dir = "" },
		"dir":           func(j *job.Job) { j.Exec.Dir = "/tmp" },
		"env value":     func(j *job.Job) { j.Exec.Env = map[string]string{"A": "1", "B": "3"} },
		"env name":      func(j *job.Job) { j.Exec.Env = map[string]string{"A": "1", "C": "2"} },
		"env less":      func(j *job.Job) { j.Exec.Env = map[string]string{"A": "1"} },
	}
	seen := map[string]string{}
	for name, change := range changes {
		j := fullJob(t)
		change(j)
		h := j.Hash()
		if other, twice := seen[h]; twice {
			t.Errorf("%s and %s have the same hash %s", name, other, h)
		}
		seen[h] = name
	}
}

// TestHash_stable: the description doesn't matter, and the hash is the same for ever.
func TestHash_stable(t *testing.T) {
	j := fullJob(t)
	j.Description = "another"
	if got, want := j.Hash(), fullJob(t).Hash(); got != want {
		t.Errorf("got %s with another description, want %s", got, want)
	}
}

// TestHash_knows_every_field fails when a field is added to Job, so that it isn't forgotten
// in Hash and in the test above.
func TestHash_knows_every_field(t *testing.T) {
	for name, count := range map[string][2]int{
		"Job":    {reflect.TypeFor[job.Job]().NumField(), 9},
		"Timing": {reflect.TypeFor[job.Timing]().NumField(), 7},
		"Exec":   {reflect.TypeFor[job.Exec]().NumField(), 3},
	} {
		if got, want := count[0], count[1]; got != want {
			t.Errorf("%s has %d fields, want %d: extend Hash and this test", name, got, want)
		}
	}
}

// TestRun_String: a run's name has milliseconds only where there are any.
func TestRun_String(t *testing.T) {
	at := time.Date(2026, 12, 2, 1, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                      "a@20261202T013000Z",
		250 * time.Millisecond: "a@20261202T013000.250Z",
	} {
		run := job.Run{Job: "a", Slot: schedule.SlotOf(at.Add(d))}
		if got := run.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
