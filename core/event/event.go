// Package event says what happened: every slot that was due on an instance ends in exactly
// one final event there, and nothing is skipped in silence.
//
// Logs, metrics and the history shown to people are subscribers of these events.
package event

import (
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// Kind is what happened. Its text is stable: logs, metrics and the API show it.
type Kind string

// What happens on the way.
const (
	// Won says that the store gave the run to this instance.
	Won Kind = "won"
	// Started says that an attempt's process is running.
	Started Kind = "started"
)

// What a slot ends in, on one instance. A run that this instance takes over from another is
// a turn of its own (Takeover is set) and has a final event of its own.
const (
	// Finished says that the run ended here and its outcome is written in the store.
	Finished Kind = "finished"
	// Taken says that the run is, or was, another instance's. It is the normal end of a slot
	// on all instances but one.
	Taken Kind = "taken"
	// Overlap says that the slot was skipped because another run of the job is live.
	Overlap Kind = "overlap"
	// Late says that nobody claimed the slot in time, so that it is skipped here. Count may
	// stand for many slots, after a long sleep.
	Late Kind = "late"
	// Lost says that this instance was the run's holder and no longer is: it stopped its work
	// and reported nothing more.
	Lost Kind = "lost"
	// Released says that this instance gave a run up so that another takes it over: it is
	// being stopped.
	Released Kind = "released"
	// Unknown says that the store gave no answer until the slot was late: the run isn't
	// started here, and may have been claimed.
	Unknown Kind = "unknown"
	// Refused says that the store, or this instance, refused the claim for a reason that
	// asking again doesn't cure.
	Refused Kind = "refused"
	// Stopped says that the instance was stopped before it had an answer.
	Stopped Kind = "stopped"
)

// Final tells whether k ends a slot on an instance.
func (k Kind) Final() bool { return k != Won && k != Started }

// Event is one thing that happened to a run on this instance.
type Event struct {
	// Kind is what happened.
	Kind Kind
	// Time is this instance's wall clock.
	Time time.Time
	// Run is the run that it happened to.
	Run job.Run
	// Count is how many slots the event stands for, ending with Run's; 0 means 1.
	Count int
	// Takeover tells that this instance took the run over from another.
	Takeover bool
	// Attempt is the run's attempt, where it is known; else 0.
	Attempt int
	// Holder is the instance that has the run, where it is known.
	Holder string
	// Outcome is how the run ended, for Finished: as pluginapi.Outcome's text.
	Outcome string
	// ExitCode is the exit status of the job's process, for Finished.
	ExitCode int
	// Reason says why, for people; it holds no secret.
	Reason string
	// Delay is how long after its slot this happened.
	Delay time.Duration
	// Took is how long the attempt ran, for Finished and Lost.
	Took time.Duration
}

// Bus hands each event to every subscriber, in the order of publishing per publisher. The
// zero value is ready. Its methods may be called concurrently.
type Bus struct {
	mu          sync.RWMutex // guards subscribers
	subscribers []func(Event)
}

// Subscribe calls f for each event from now on, from the publisher's goroutine: f must not
// block and must not publish.
func (b *Bus) Subscribe(f func(Event)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(b.subscribers, f)
}

// Publish hands e to every subscriber and returns when all have seen it.
func (b *Bus) Publish(e Event) {
	b.mu.RLock()
	subscribers := b.subscribers
	b.mu.RUnlock()
	for _, f := range subscribers {
		f(e)
	}
}
