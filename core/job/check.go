package job

import (
	"fmt"
	"time"
)

// Store is what a store promises, as far as the rules of [Job.Check] need to know it.
type Store struct {
	// Leases tells a lease store from a gate store.
	Leases bool
	// Memory is for how long it remembers claims.
	Memory Memory
}

// Memory says for how long a store still knows that a slot was claimed.
type Memory struct {
	// Window is how long; 0 means as long as a late claim could still ask.
	Window time.Duration
	// MaxRuns is how many runs of a job are known at most; 0 means no such bound.
	MaxRuns int
}

// Rule names a rule of semantics §4.2 or §5. Its text is stable.
type Rule string

// The rules.
const (
	// JitterFits says that jitter is less than half of the least time between two runs.
	JitterFits Rule = "jitter_fits"
	// LateAfterJitter says that max_late is greater than jitter.
	LateAfterJitter Rule = "late_after_jitter"
	// MemoryLasts says that jitter + max_late is less than the store's memory.
	MemoryLasts Rule = "memory_lasts"
	// MemoryCounts says that the runs which the store remembers span more than jitter + max_late.
	MemoryCounts Rule = "memory_counts"
	// LeaseRenewable says that heartbeat is less than half of lease.
	LeaseRenewable Rule = "lease_renewable"
	// NeedsLeases says that a gate store isn't asked for what only a lease store can do.
	NeedsLeases Rule = "needs_leases"
)

// Violation is a combination of settings that isn't safe.
type Violation struct {
	// Rule is the rule that doesn't hold.
	Rule Rule
	// Settings are the HCL names of the settings that don't fit together; the one to change
	// first comes first.
	Settings []string
	// Summary says what was found and what is allowed, with numbers.
	Summary string
	// Fix says why the rule is there, and two ways out.
	Fix string
}

// LeaseSettings are the settings that only a lease store can honour.
func LeaseSettings() []string {
	return []string{"lease", "heartbeat", "overlap", "max_attempts", "on_lost"}
}

// Check returns every rule that the job breaks on such a store, in a fixed order; none when
// the job is safe there. The answer depends on the arguments alone. written tells whether the
// user wrote the setting of that name: a gate store is only ever refused what was asked for.
func (j *Job) Check(store Store, written func(setting string) bool) []Violation {
	var found []Violation
	add := func(v Violation, broken bool) {
		if broken {
			found = append(found, v)
		}
	}
	gap := j.Schedule.MinGap()
	add(j.jitterFits(gap))
	add(j.lateAfterJitter())
	add(j.memoryLasts(store.Memory.Window))
	add(j.memoryCounts(store.Memory.MaxRuns, gap))
	if store.Leases {
		add(j.leaseRenewable())
		return found
	}
	for _, name := range LeaseSettings() {
		if written(name) {
			add(j.needsLeases(name))
		}
	}
	return found
}

// jitterFits: the windows in which two runs in a row are claimed must not meet.
func (j *Job) jitterFits(gap time.Duration) (Violation, bool) {
	// 2×jitter >= gap, written so that it can't overflow.
	broken := gap > 0 && j.Jitter >= gap-j.Jitter
	if !broken {
		return Violation{}, false
	}
	return Violation{
		Rule:     JitterFits,
		Settings: []string{"jitter", "schedule"},
		Summary: fmt.Sprintf("jitter is %s; it must be less than %s, half of the least time between two runs (%s)",
			FormatDuration(j.Jitter), FormatDuration(gap/2), FormatDuration(gap)),
		Fix: fmt.Sprintf("The claims of two runs in a row would mix. Lower jitter below %s, or leave more than %s between runs.",
			FormatDuration(gap/2), FormatDuration(2*j.Jitter)),
	}, true
}

// lateAfterJitter: who waits its whole jitter must not be late yet.
func (j *Job) lateAfterJitter() (Violation, bool) {
	if j.MaxLate > j.Jitter {
		return Violation{}, false
	}
	return Violation{
		Rule:     LateAfterJitter,
		Settings: []string{"max_late", "jitter"},
		Summary: fmt.Sprintf("max_late is %s; it must be greater than jitter, which is %s",
			FormatDuration(j.MaxLate), FormatDuration(j.Jitter)),
		Fix: fmt.Sprintf("An instance that waits its whole jitter would already be late. Raise max_late above %s, or lower jitter below %s.",
			FormatDuration(j.Jitter), FormatDuration(j.MaxLate)),
	}, true
}

// memoryLasts: a store that has forgotten the run would give it away a second time.
func (j *Job) memoryLasts(window time.Duration) (Violation, bool) {
	span := j.Jitter + j.MaxLate
	if window == 0 || span < window {
		return Violation{}, false
	}
	return Violation{
		Rule:     MemoryLasts,
		Settings: []string{"max_late", "jitter"},
		Summary: fmt.Sprintf("jitter %s + max_late %s = %s; it must be less than %s, for which the store remembers a run",
			FormatDuration(j.Jitter), FormatDuration(j.MaxLate), FormatDuration(span), FormatDuration(window)),
		Fix: "A late claim would win again what the store has forgotten, and the job would run twice." +
			" Lower max_late or jitter, or give the store a longer memory.",
	}, true
}

// memoryCounts: the same, where the store remembers a number of runs.
func (j *Job) memoryCounts(runs int, gap time.Duration) (Violation, bool) {
	span := j.Jitter + j.MaxLate
	// runs×gap > span, written so that it can't overflow: both sides are whole numbers.
	if runs == 0 || gap == 0 || time.Duration(runs) > span/gap {
		return Violation{}, false
	}
	remembered := time.Duration(runs) * gap
	return Violation{
		Rule:     MemoryCounts,
		Settings: []string{"max_late", "jitter", "schedule"},
		Summary: fmt.Sprintf("the store remembers %d runs, of this job %s; that must be more than jitter %s + max_late %s = %s",
			runs, FormatDuration(remembered), FormatDuration(j.Jitter), FormatDuration(j.MaxLate), FormatDuration(span)),
		Fix: fmt.Sprintf("A late claim would win again what the store has forgotten, and the job would run twice."+
			" Lower max_late or jitter, or let the store remember more than %d runs.", span/gap),
	}, true
}

// leaseRenewable: one lost heartbeat must not cost the lease.
func (j *Job) leaseRenewable() (Violation, bool) {
	// 2×heartbeat < lease, written so that it can't overflow.
	if j.Heartbeat < j.Lease-j.Heartbeat {
		return Violation{}, false
	}
	return Violation{
		Rule:     LeaseRenewable,
		Settings: []string{"heartbeat", "lease"},
		Summary: fmt.Sprintf("heartbeat is %s; it must be less than %s, half of the lease of %s",
			FormatDuration(j.Heartbeat), FormatDuration(j.Lease/2), FormatDuration(j.Lease)),
		Fix: fmt.Sprintf("A lease must be renewable twice before it ends. Lower heartbeat below %s, or raise lease above %s.",
			FormatDuration(j.Lease/2), FormatDuration(2*j.Heartbeat)),
	}, true
}

// needsLeases: a setting that a gate store can't honour must not be a silent no-op. What a
// gate store does anyway may be written: it claims each slot whatever the job's other runs
// do, and starts a run at most once.
func (j *Job) needsLeases(name string) (Violation, bool) {
	other := "remove the line"
	switch name {
	case "overlap":
		if j.Overlap == Allow {
			return Violation{}, false
		}
		other = `write overlap = "allow"`
	case "max_attempts":
		if j.MaxAttempts == 1 {
			return Violation{}, false
		}
		other = "write max_attempts = 1"
	}
	return Violation{
		Rule:     NeedsLeases,
		Settings: []string{name, "store"},
		Summary:  fmt.Sprintf("%s needs a store with leases; this job's store only says who was first", name),
		Fix: fmt.Sprintf("A gate store has no heartbeat, takeover or overlap rule: a run is claimed at most once."+
			" Choose a lease store, or %s.", other),
	}, true
}
