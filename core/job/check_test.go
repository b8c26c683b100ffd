package job_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

const ms = time.Millisecond

// newJob returns a job that is due every gap, with default timing.
func newJob(t *testing.T, gap time.Duration) *job.Job {
	t.Helper()
	s, err := schedule.Every(gap, 0, schedule.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &job.Job{Name: "a", Schedule: s, Timing: job.DefaultTiming(gap)}
}

func rules(violations []job.Violation) []job.Rule {
	var found []job.Rule
	for _, v := range violations {
		found = append(found, v.Rule)
	}
	return found
}

func nothing(string) bool    { return false }
func everything(string) bool { return true }

// TestCheck tries each rule of semantics §4.2 at its exact boundary.
func TestCheck(t *testing.T) {
	lease := job.Store{Leases: true}
	remembers := func(window time.Duration, runs int) job.Store {
		return job.Store{Memory: job.Memory{Window: window, MaxRuns: runs}}
	}
	tests := []struct {
		name  string
		gap   time.Duration
		store job.Store
		set   func(*job.Timing)
		want  []job.Rule
	}{
		{"jitter below half of the gap", time.Minute, lease, func(t *job.Timing) { t.Jitter = 30*time.Second - ms }, nil},
		{"jitter of half the gap", time.Minute, lease, func(t *job.Timing) { t.Jitter = 30 * time.Second }, []job.Rule{job.JitterFits}},
		{"jitter below half of an odd gap", 3 * time.Second, lease, func(t *job.Timing) { t.Jitter = 1500*ms - ms }, nil},
		{"jitter of half an odd gap", 3 * time.Second, lease, func(t *job.Timing) { t.Jitter = 1500 * ms }, []job.Rule{job.JitterFits}},

		{"max_late above jitter", time.Hour, lease, func(t *job.Timing) { t.Jitter, t.MaxLate = time.Second, time.Second+ms }, nil},
		{"max_late equal to jitter", time.Hour, lease, func(t *job.Timing) { t.Jitter, t.MaxLate = time.Second, time.Second }, []job.Rule{job.LateAfterJitter}},

		{"jitter + max_late below the memory", time.Hour, remembers(5*time.Minute, 0), func(t *job.Timing) { t.Jitter, t.MaxLate = time.Minute, 4*time.Minute-ms }, nil},
		{"jitter + max_late of the memory", time.Hour, remembers(5*time.Minute, 0), func(t *job.Timing) { t.Jitter, t.MaxLate = time.Minute, 4*time.Minute }, []job.Rule{job.MemoryLasts}},
		{"an unbounded memory", time.Hour, lease, func(t *job.Timing) { t.MaxLate = 100 * 24 * time.Hour }, nil},

		{"62 runs of a second, 61.9 s", time.Second, remembers(0, 62), func(t *job.Timing) { t.Jitter, t.MaxLate = 400*ms, 61500*ms }, nil},
		{"62 runs of a second, 62 s", time.Second, remembers(0, 62), func(t *job.Timing) { t.Jitter, t.MaxLate = 400*ms, 61600*ms }, []job.Rule{job.MemoryCounts}},
		{"50 remembered runs of a job each second", time.Second, remembers(0, 50), func(*job.Timing) {}, []job.Rule{job.MemoryCounts}},
		{"runs whose span overflows", 366 * 24 * time.Hour, remembers(0, 1<<40), func(*job.Timing) {}, nil},

		{"heartbeat below half of lease", time.Hour, lease, func(t *job.Timing) { t.Lease, t.Heartbeat = 10*time.Second, 5*time.Second-ms }, nil},
		{"heartbeat of half the lease", time.Hour, lease, func(t *job.Timing) { t.Lease, t.Heartbeat = 10*time.Second, 5*time.Second }, []job.Rule{job.LeaseRenewable}},
		{"no heartbeat on a gate store", time.Hour, job.Store{}, func(t *job.Timing) { t.Lease, t.Heartbeat = time.Second, time.Second }, nil},

		{"several at once", time.Minute, lease, func(t *job.Timing) { t.Jitter, t.MaxLate, t.Lease = time.Hour, time.Minute, time.Second }, []job.Rule{job.JitterFits, job.LateAfterJitter, job.LeaseRenewable}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := newJob(t, tt.gap)
			tt.set(&j.Timing)
			violations := j.Check(tt.store, nothing)
			if got := rules(violations); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", violations, tt.want)
			}
			for _, v := range violations {
				if v.Summary == "" || len(v.Settings) == 0 || !strings.Contains(v.Fix, ", or ") {
					t.Errorf("a violation names settings, numbers and two ways out; got %+v", v)
				}
			}
		})
	}
}

// TestCheck_single_slot: a job with one slot has no time between runs that could be too short.
func TestCheck_single_slot(t *testing.T) {
	s, err := schedule.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Schedule: s, Timing: job.DefaultTiming(s.MinGap())}
	if got := j.Check(job.Store{Memory: job.Memory{MaxRuns: 1}}, nothing); len(got) > 0 {
		t.Errorf("got %v, want no violations", got)
	}
}

// TestCheck_gate_store: what only a lease store can do is an error where the user asks for it,
// and only there.
func TestCheck_gate_store(t *testing.T) {
	j := newJob(t, time.Hour)
	if got := j.Check(job.Store{}, nothing); len(got) > 0 {
		t.Errorf("defaults: got %v, want no violations", got)
	}
	if got := j.Check(job.Store{Leases: true}, everything); len(got) > 0 {
		t.Errorf("on a lease store: got %v, want no violations", got)
	}
	var settings []string
	for _, v := range j.Check(job.Store{}, everything) {
		if v.Rule != job.NeedsLeases {
			t.Errorf("got %v, want only %s", v, job.NeedsLeases)
		}
		settings = append(settings, v.Settings[0])
	}
	if !slices.Equal(settings, job.LeaseSettings()) {
		t.Errorf("got %v, want %v", settings, job.LeaseSettings())
	}
	// What a gate store does anyway may be written.
	j.Overlap, j.MaxAttempts = job.Allow, 1
	written := func(name string) bool { return name == "overlap" || name == "max_attempts" }
	if got := j.Check(job.Store{}, written); len(got) > 0 {
		t.Errorf("overlap allow and one attempt: got %v, want no violations", got)
	}
}

// TestDefaultTiming_jitter: two seconds, but at most a quarter of the time between runs.
func TestDefaultTiming_jitter(t *testing.T) {
	for gap, want := range map[time.Duration]time.Duration{
		0:               2 * time.Second,
		time.Second:     250 * ms,
		4 * time.Second: time.Second,
		8 * time.Second: 2 * time.Second,
		time.Hour:       2 * time.Second,
	} {
		if got := job.DefaultTiming(gap).Jitter; got != want {
			t.Errorf("gap %s: got %s, want %s", gap, got, want)
		}
	}
}
