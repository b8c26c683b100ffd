package claim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// ErrLost says that this instance was the run's holder and no longer counts as it: the store
// fenced it, or it couldn't extend its lease in time.
var ErrLost = errors.New("the run is lost")

// Hold is a run that this instance holds. On a lease store it sends heartbeats until it is
// ended, by exactly one call of Finish or Release, or lost. Its methods may be called
// concurrently.
type Hold struct {
	c         *Claimer
	run       job.Run
	attempt   int
	token     pluginapi.Token
	lease     lease
	log       *slog.Logger
	ctx       context.Context //nolint:containedctx // it is what Context hands out
	cancel    context.CancelCauseFunc
	calls     context.Context //nolint:containedctx // the heartbeats' own: they go on when ctx has ended
	dropCalls context.CancelFunc
	extended  chan struct{}
	quit      chan struct{} // closed when no more heartbeats are wanted
	done      chan struct{} // closed when keep has returned, or was never needed

	mu     sync.Mutex    // guards what follows
	end    time.Duration // when the lease ends, on the boot clock
	lost   error
	ending bool // Finish or Release was called
}

func newHold(ctx context.Context, q *question, attempt int) *Hold {
	h := &Hold{
		c:        q.Claimer,
		run:      q.run,
		attempt:  attempt,
		token:    q.claim.Token,
		lease:    leaseOf(q.job),
		log:      q.log.With(slog.String("job", q.run.Job), slog.Time("slot", q.run.Slot.Time()), slog.Int("attempt", attempt)),
		extended: make(chan struct{}, 1),
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	outlive := context.WithoutCancel(ctx) // heartbeats are the last to stop
	h.ctx, h.cancel = context.WithCancelCause(outlive)
	h.calls, h.dropCalls = context.WithCancel(outlive)
	return h
}

// Run names the run.
func (h *Hold) Run() job.Run { return h.run }

// Attempt is the run's attempt, from 1; on a gate store always 1.
func (h *Hold) Attempt() int { return max(h.attempt, 1) }

// Context is the work's: it ends when the work must stop, with a cause that is [ErrLost], or
// after Finish or Release. A job with OnLost Continue is never told to stop by it. It doesn't
// end with the context given to Acquire: who drains stops the work by a context of his own.
func (h *Hold) Context() context.Context { return h.ctx }

// Deadline is the instant on the boot clock at which the work must have ended, SIGKILL
// included, whatever this process can do by then; it lies a margin before the end of the
// lease. Each extension moves it on. 0 means that the lease sets no end: on gate stores, and
// for jobs with OnLost Continue.
func (h *Hold) Deadline() time.Duration {
	if h.c.kind == pluginapi.Gate || h.lease.workGoesOn {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end - h.lease.margin
}

// Grace is how long before [Hold.Deadline] the work is told to stop: the job's KillAfter, but
// at most a sixth of the lease. It is constant.
func (h *Hold) Grace() time.Duration { return h.lease.grace }

// Extended gets a value after each extension of the lease; values that nobody fetched merge.
// It is never closed.
func (h *Hold) Extended() <-chan struct{} { return h.extended }

// lease is a job's lease, as its holder counts it. With the defaults, 30 s and 5 s: the work
// is told to stop 23.5 s after the last good heartbeat was sent, and is dead after 28.5 s.
type lease struct {
	length    time.Duration
	heartbeat time.Duration
	// margin is the time between the death of the work and the end of the lease: a twentieth
	// of the lease, for clocks that don't run equally fast, and for the killing itself.
	margin time.Duration
	// grace is the time between the request to stop and the kill. A long KillAfter must not
	// eat a short lease, or a single slow heartbeat would stop healthy work: so at most a sixth.
	grace time.Duration
	// workGoesOn: the job's work isn't stopped when the lease is lost.
	workGoesOn bool
}

func leaseOf(j *job.Job) lease {
	l := lease{length: j.Lease, heartbeat: j.Heartbeat}
	if j.OnLost == job.Continue {
		l.workGoesOn = true
		return l
	}
	l.margin = j.Lease / 20
	l.grace = min(j.KillAfter, j.Lease/6)
	return l
}

// extend notes that a request sent at that instant left that much of the lease.
func (h *Hold) extend(sent, left time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return // the answer came too late: the work is being stopped
	}
	h.end = sent + min(left, h.lease.length)
	select {
	case h.extended <- struct{}{}:
	default:
	}
}

// stopBy is the instant on the boot clock at which the run counts as lost without another
// heartbeat.
func (h *Hold) stopBy() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end - h.lease.margin - h.lease.grace
}

// renewed is when the lease was last renewed, as far as that can be told from its end: long
// ago, if the answer to a re-sent claim says that little of it is left.
func (h *Hold) renewed() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end - h.lease.length
}

// startable tells whether enough of the lease is left for work to begin.
func (h *Hold) startable() bool { return h.c.boot() < h.stopBy() }

// lose marks the run as lost and stops its work. It does nothing and returns false when the
// run is being ended: then the work is over, and the store's answer to that decides.
func (h *Hold) lose(why string) bool {
	lost := fmt.Errorf("%w: %s", ErrLost, why)
	h.mu.Lock()
	if h.ending {
		h.mu.Unlock()
		return false
	}
	h.lost = lost
	h.mu.Unlock()
	if !h.lease.workGoesOn {
		h.cancel(lost)
	}
	h.c.end(h.run) // a takeover by this very instance is possible from now on
	return true
}
