// Package job says what a job is, and which combinations of its settings are safe.
//
// It holds plain values: no clock, no I/O. Package jobfile makes them from HCL; timing, claim
// and runner use them.
package job

import (
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// Slot is an instant at which a job is due: milliseconds since the Unix epoch, UTC.
type Slot = schedule.Slot

// The defaults of a job's settings (semantics §4.1 and §5).
const (
	DefaultJitter      = 2 * time.Second // at most a quarter of the time between runs
	DefaultMaxLate     = 60 * time.Second
	DefaultLease       = 30 * time.Second
	DefaultHeartbeat   = 5 * time.Second
	DefaultMaxAttempts = 3
	DefaultKillAfter   = 5 * time.Second
)

// Job is a named piece of work with a schedule. Its values are complete: defaults are filled
// in and the rules of [Job.Check] hold. A Job is never changed once it is in use.
type Job struct {
	// Name is unique in the configuration: [a-z0-9][a-z0-9._:-]{0,127}.
	Name string
	// Description is for people.
	Description string
	// Enabled tells whether the job has slots at all.
	Enabled bool
	// Schedule gives the job's slots.
	Schedule *schedule.Schedule
	// Timing is when and how the job's runs are claimed.
	Timing
	// Timeout is how long an attempt may take; 0 means no limit.
	Timeout time.Duration
	// KillAfter is how long a stopped attempt has between SIGTERM and SIGKILL.
	KillAfter time.Duration
	// Exec is the command to run.
	Exec Exec
	// Store is the name of the store block that decides the job's runs.
	Store string
}

// Timing is when and how a job's runs are claimed.
type Timing struct {
	// Jitter is the longest random delay between the slot and this instance's claim.
	Jitter time.Duration
	// MaxLate is how long after its slot a run may still be claimed for the first time.
	MaxLate time.Duration
	// Lease is how long a run is its holder's without a heartbeat.
	Lease time.Duration
	// Heartbeat is the time between two extensions of the lease.
	Heartbeat time.Duration
	// Overlap says whether the job may have two live runs.
	Overlap Overlap
	// MaxAttempts is how often a run may be started, the first start included.
	MaxAttempts int
	// OnLost says what happens to the work of a holder that has lost its lease.
	OnLost OnLost
}

// DefaultTiming returns the timing of a job that says nothing about it and whose runs are at
// least gap apart; gap is 0 where there is at most one.
func DefaultTiming(gap time.Duration) Timing {
	jitter := DefaultJitter
	if gap > 0 {
		jitter = min(jitter, gap/4)
	}
	return Timing{
		Jitter:      jitter,
		MaxLate:     DefaultMaxLate,
		Lease:       DefaultLease,
		Heartbeat:   DefaultHeartbeat,
		Overlap:     Skip,
		MaxAttempts: DefaultMaxAttempts,
		OnLost:      Kill,
	}
}

// Overlap says whether a job may have two live runs at once.
type Overlap string

// The overlap rules.
const (
	Skip  Overlap = "skip"
	Allow Overlap = "allow"
)

// OnLost says what happens to the work of a holder that has lost its lease.
type OnLost string

// What a holder does with its work when it has lost its lease.
const (
	// Kill stops the work before the lease ends, so that no two attempts overlap.
	Kill OnLost = "kill"
	// Continue lets the work go on; its outcome isn't recorded.
	Continue OnLost = "continue"
)

// Exec is a command.
type Exec struct {
	// Command is the program and its arguments; no shell is involved.
	Command []string
	// Dir is the working directory; "" means the instance's data directory.
	Dir string
	// Env is added to the clean environment that every attempt gets.
	Env map[string]string
}

// Run names what happens for one slot of a job.
type Run struct {
	Job  string
	Slot Slot
}

// String returns the run's name: job@20261202T013000Z, with milliseconds where there are any.
func (r Run) String() string {
	layout := slotLayout
	if r.Slot%1000 != 0 {
		layout = slotLayoutMillis
	}
	return r.Job + "@" + r.Slot.Time().Format(layout)
}
