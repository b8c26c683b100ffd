package claim

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Store is what this package asks of a store: one item at a time. An item's own error is
// returned as the method's. Errors are judged by their [pluginapi.Code]; those without one
// count as Ambiguous. Methods are called concurrently and return soon after ctx has ended.
type Store interface {
	// Claim asks for one run.
	Claim(ctx context.Context, claim pluginapi.Claim) (pluginapi.ClaimResult, error)
	// Heartbeat extends, or gives up, the lease of one run. Never called on a gate store.
	Heartbeat(ctx context.Context, heartbeat pluginapi.Heartbeat) (pluginapi.HeartbeatResult, error)
	// Finish ends one run. Never called on a gate store.
	Finish(ctx context.Context, finish pluginapi.Finish) (pluginapi.FinishResult, error)
	// Expired lists a page of the runs whose lease has ended. Never called on a gate store.
	Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error)
}

// Options is what a [Claimer] needs; all of it is required.
type Options struct {
	// Store decides the runs.
	Store Store
	// Kind is what the store promises; it stays the same for the Claimer's life.
	Kind pluginapi.Kind
	// Instance is this instance's name, unique among those that share the store.
	Instance string
	// Now is this instance's wall clock: it tells whether a slot is late here.
	Now func() time.Time
	// Boot is a clock that neither jumps nor stops in a suspend, counted from any instant: it
	// tells when a lease ends. boottime.Now is one.
	Boot func() time.Duration
	// Log gets what happens on the way to an answer.
	Log *slog.Logger
}

// Claimer asks one store for runs. Its methods may be called concurrently.
type Claimer struct {
	store    Store
	kind     pluginapi.Kind
	instance string
	now      func() time.Time
	boot     func() time.Duration
	log      *slog.Logger

	mu   sync.Mutex           // guards busy
	busy map[job.Run]struct{} // the runs that are being asked for or held here
}

// New returns a Claimer. It starts nothing.
func New(o Options) *Claimer {
	return &Claimer{
		store:    o.Store,
		kind:     o.Kind,
		instance: o.Instance,
		now:      o.Now,
		boot:     o.Boot,
		log:      o.Log,
		busy:     map[job.Run]struct{}{},
	}
}

// Answer is what came of asking for a run.
type Answer struct {
	// Kind is Won, or what the slot ends in here: Taken, Overlap, Late, Unknown, Refused,
	// Stopped, or Released.
	Kind event.Kind
	// Hold is the run, when Kind is Won; else nil. It must be ended by Finish or Release.
	Hold *Hold
	// Attempt is the run's attempt where the store told; else 0.
	Attempt int
	// Holder is the instance that has or had the run, where it is known.
	Holder string
	// Reason says why, for people; empty when there is no more to say than Kind does.
	Reason string
}

// begin marks the run as busy here, or tells that it is already.
func (c *Claimer) begin(run job.Run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.busy[run]; ok {
		return false
	}
	c.busy[run] = struct{}{}
	return true
}

// end undoes begin; repeating it changes nothing.
func (c *Claimer) end(run job.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, run)
}

func (c *Claimer) isBusy(run job.Run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.busy[run]
	return ok
}
