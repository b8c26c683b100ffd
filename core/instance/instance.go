// Package instance is one running core process: it wires timing, claim and runner together,
// and stops them in the order that loses nothing.
//
// When the context of [Instance.Run] ends, the instance drains:
//
//  1. no new slots and no takeovers; claims under way get their answer, and a run that is won
//     now is given up at once, so that another instance takes it;
//  2. running attempts go on, with their heartbeats, for at most DrainTimeout, or until
//     [Instance.Hurry];
//  3. those that still run are stopped and, once they are dead, given up: a peer takes them
//     over without waiting for the end of the lease.
//
// Run returns when no attempt, claim or heartbeat is left. Only then may the store be closed.
package instance

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/core/timing"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// DefaultDrainTimeout is how long running attempts may go on once the instance is being
// stopped, when the configuration doesn't say.
const DefaultDrainTimeout = 30 * time.Second

// maxAsking bounds the claims that are asked for at the same time; the store's batches are
// far smaller. It keeps a million slots of one instant from becoming a million goroutines.
const maxAsking = 8192

// errStopping is the cause with which a drain stops an attempt.
var errStopping = errors.New("the instance is being stopped")

// Options are what an instance is made of; all of it is required but where it says so.
type Options struct {
	// Name is the instance's name, unique among the live instances of one store.
	Name string
	// Jobs are the jobs that the store decides.
	Jobs []*job.Job
	// Store answers claims; the caller opens it before Run and closes it after.
	Store claim.Store
	// Kind is what the store promises.
	Kind pluginapi.Kind
	// WorkDir is where commands run that name no directory of their own.
	WorkDir string
	// MaxRunning is how many attempts may run here at once; a full instance doesn't claim. 0
	// means no limit.
	MaxRunning int
	// DrainTimeout is how long attempts may go on once the instance is being stopped; 0 stops
	// them at once.
	DrainTimeout time.Duration
	// Events gets what happens.
	Events *event.Bus
	// Log is for what isn't an event of one run.
	Log *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
	// Boot is CLOCK_BOOTTIME, as package boottime reads it.
	Boot func() time.Duration
	// WatchClock has the system tell of steps of the wall clock at once; see timing.Options.
	WatchClock bool
	// Attempt runs one attempt; runner.Run when nil.
	Attempt func(context.Context, runner.Spec, runner.Lease) (runner.Result, error)
}

// Instance is one running core process.
type Instance struct {
	o       Options
	claims  *claim.Claimer
	engine  *timing.Engine
	byName  map[string]*job.Job // the enabled jobs; not changed once Run has begun
	beat    time.Duration       // the smallest heartbeat among them
	asking  queue
	turns   sync.WaitGroup  // every turn that was handed to asking
	running chan struct{}   // one element for each running attempt; nil without a limit
	ctx     context.Context //nolint:containedctx // ends when claiming does; the engine's callbacks get none
	halted  context.Context //nolint:containedctx // ends when a drain stops the attempts
	halt    context.CancelCauseFunc
	hurry   chan struct{}
	hurried sync.Once
}

// New returns an instance that hasn't started anything.
func New(o Options) (*Instance, error) {
	if o.Attempt == nil {
		o.Attempt = runner.Run
	}
	i := &Instance{
		o:      o,
		byName: make(map[string]*job.Job, len(o.Jobs)),
		asking: queue{limit: maxAsking},
		hurry:  make(chan struct{}),
		claims: claim.New(claim.Options{
			Store: o.Store, Kind: o.Kind, Instance: o.Name, Now: o.Now, Boot: o.Boot, Log: o.Log,
		}),
	}
	if o.MaxRunning > 0 {
		i.running = make(chan struct{}, o.MaxRunning)
	}
	enabled := slices.DeleteFunc(slices.Clone(o.Jobs), func(j *job.Job) bool { return !j.Enabled })
	for _, j := range enabled {
		i.byName[j.Name] = j
		if i.beat == 0 || j.Heartbeat < i.beat {
			i.beat = j.Heartbeat
		}
	}
	var err error
	i.engine, err = timing.New(timing.Options{
		Now: o.Now, Boot: o.Boot, WatchClock: o.WatchClock, Log: o.Log,
		Hand: i.due, Skip: i.skipped, OnStep: i.clockStepped,
	})
	if err != nil {
		return nil, err
	}
	i.engine.Set(enabled)
	return i, nil
}

// Run works until ctx ends, then drains; see the package's doc. It may be called once.
func (i *Instance) Run(ctx context.Context) error {
	i.halted, i.halt = context.WithCancelCause(context.WithoutCancel(ctx))
	defer i.halt(nil)
	group, ctx := errgroup.WithContext(ctx)
	i.ctx = ctx
	group.Go(func() error { return i.engine.Run(ctx) })
	group.Go(func() error {
		return i.claims.Watch(ctx, claim.Scan{
			Heartbeat: func() time.Duration { return i.beat },
			Job:       func(name string) *job.Job { return i.byName[name] },
			Hand:      i.expired,
		})
	})
	err := group.Wait()
	i.drain()
	return err
}

// Hurry ends the patience of a drain: attempts that still run are stopped now. It may be
// called at any time, and more than once.
func (i *Instance) Hurry() { i.hurried.Do(func() { close(i.hurry) }) }

// drain waits for every turn to end, and stops those that take too long.
func (i *Instance) drain() {
	ended := make(chan struct{})
	go func() {
		i.turns.Wait()
		close(ended)
	}()
	i.o.Log.Info("draining: no new slots, and what runs may end", slog.Duration("drain_timeout", i.o.DrainTimeout))
	patience := time.NewTimer(i.o.DrainTimeout)
	defer patience.Stop()
	select {
	case <-ended:
		return
	case <-patience.C:
	case <-i.hurry:
	}
	i.halt(errStopping)
	<-ended
}

func (i *Instance) clockStepped(s timing.Step) {
	i.o.Log.Warn("clock stepped, or the machine slept",
		slog.Duration("wall", s.Wall), slog.Duration("asleep", s.Asleep))
}
