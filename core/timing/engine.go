package timing

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// maxShards is far more than helps: one shard hands over a million slots in less than a second.
const maxShards = 64

// Due is a slot that is due on this instance now.
type Due struct {
	// Job is the job, as the last [Engine.Set] gave it.
	Job *job.Job
	// Slot is when the schedule says.
	Slot job.Slot
	// At is when the slot became due here: the slot and the delay that was drawn for it, in
	// milliseconds since the Unix epoch on this instance's wall clock.
	At int64
}

// Skipped stands for slots whose turn came on this instance more than max_late after their time:
// it slept, it was frozen, or its clock was put forward.
type Skipped struct {
	// Job is the job.
	Job *job.Job
	// First and Last are the earliest and the latest of the slots that were counted.
	First, Last job.Slot
	// Count is how many slots there are from First to Last; at least 1.
	Count int
	// More tells that there are more after Last: counting stops at a bound.
	More bool
}

// Options are what an engine needs.
type Options struct {
	// Now is the instance's wall clock.
	Now func() time.Time
	// Hand gets the slots that have become due, from a shard's goroutine: it must not block, since
	// no other slot of the shard is handed over before it returns. The batch is the engine's again
	// afterwards. Several shards call it concurrently.
	Hand func(batch []Due)
	// Skip gets what came too late, under the same rules as Hand.
	Skip func(Skipped)
	// Log gets faults: a job that had to be disabled, a clock that can't be watched.
	Log *slog.Logger
	// OnStep gets each step of the wall clock, and each sleep, that is noticed, under the same rules
	// as Hand, from one goroutine. nil means that nobody wants to know.
	OnStep func(Step)
	// Boot is a clock that counts sleeps, as boottime.Now reads it; with nil a sleep looks like a
	// step of the wall clock.
	Boot func() time.Duration
	// WatchClock has the system tell of steps and sleeps at once, where it can (Linux). Without it
	// they are noticed at the next wake, within a minute.
	WatchClock bool
	// Shards is how many goroutines share the jobs, at most 64; 0 means 1, which is enough for a
	// million jobs.
	Shards int

	next func(*job.Job, job.Slot) (job.Slot, bool) // the schedule; tests put in a wrong one
	seed [16]byte                                  // of the random delays; 0 means drawn, as it must be but in tests
}

// Engine hands over slots as they become due. Its methods may be called concurrently.
type Engine struct {
	o      Options
	shards []*shard
	hash   maphash.Seed

	mu    sync.Mutex   // guards sets and begun: one Set after the other
	sets  [][]*job.Job // by shard: its jobs of the last Set
	begun bool         // whether there was a Set before
}

// New returns an engine without jobs. The error names what is missing or out of range.
func New(o Options) (*Engine, error) {
	if o.Now == nil || o.Hand == nil || o.Skip == nil || o.Log == nil {
		return nil, errors.New("timing: Now, Hand, Skip and Log are required")
	}
	if o.Shards < 0 || o.Shards > maxShards {
		return nil, fmt.Errorf("timing: %d shards; it must be 0 to %d", o.Shards, maxShards)
	}
	if o.next == nil {
		o.next = func(j *job.Job, after job.Slot) (job.Slot, bool) { return j.Schedule.Next(after) }
	}
	e := &Engine{o: o, hash: maphash.MakeSeed()}
	for range max(1, o.Shards) {
		e.shards = append(e.shards, newShard(&e.o))
	}
	e.shards[0].steps = &steps{o: &e.o}
	e.sets = make([][]*job.Job, len(e.shards))
	return e, nil
}

// Run works until ctx ends, and returns nil once everything under it has ended. It is called once.
func (e *Engine) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range e.shards {
		group.Go(func() error { s.run(ctx); return nil })
	}
	if e.o.WatchClock {
		group.Go(func() error {
			if err := watchClock(ctx, e.wake); err != nil {
				e.o.Log.WarnContext(ctx, "the system doesn't tell of clock steps; they are noticed within a minute",
					slog.Any("err", err))
			}
			return nil
		})
	}
	return group.Wait()
}

// wake has every shard look at the clock.
func (e *Engine) wake() {
	for _, s := range e.shards {
		s.wake()
	}
}
