package claim_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// world is one store, in a synctest bubble, with a clock that can be put forward.
type world struct {
	t     *testing.T
	began time.Time
	data  *memstore.Store
	ahead atomic.Int64 // of the bubble's clock, in nanoseconds
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, began: time.Now()}
	w.data = memstore.New(memstore.Options{History: 1 << 20, Now: func() time.Time {
		return time.Now().Add(time.Duration(w.ahead.Load()))
	}})
	return w
}

func (w *world) sinceStart() time.Duration { return time.Since(w.began) }

// instance is a Claimer with clocks of its own and a link to the store that can be broken.
type instance struct {
	*claim.Claimer
	link *link
	wall atomic.Int64 // the wall clock's offset, in nanoseconds
	boot atomic.Int64 // the time that passed while everything here stood still
}

func (w *world) instance(name string) *instance { return w.add(name, pluginapi.Lease) }

func (w *world) add(name string, kind pluginapi.Kind) *instance {
	in := &instance{link: &link{lease: w.data.Open(), gate: w.data.Gate(), kind: kind}}
	began := time.Now()
	in.Claimer = claim.New(claim.Options{
		Store:    in.link,
		Kind:     kind,
		Instance: name,
		Now:      func() time.Time { return time.Now().Add(time.Duration(in.wall.Load())) },
		Boot:     func() time.Duration { return time.Since(began) + time.Duration(in.boot.Load()) },
		Log:      slog.New(slog.DiscardHandler),
	})
	return in
}

// freeze lets time pass for the store and for the instance's boot clock, while its timers and
// everything else of it stand still, as in a suspend.
func (w *world) freeze(in *instance, d time.Duration) {
	in.boot.Add(int64(d))
	in.wall.Add(int64(d))
	w.ahead.Add(int64(d))
}

// run returns what the store knows of a run.
func (w *world) run(t *testing.T, j *job.Job, slot job.Slot) (pluginapi.Run, bool) {
	t.Helper()
	page, err := w.data.Runs(t.Context(), pluginapi.RunsQuery{Job: j.Name, Slot: pluginapi.Slot(slot)})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Runs) == 0 {
		return pluginapi.Run{}, false
	}
	return page.Runs[0], true
}

// newJob returns a job with the default timings.
func newJob(name string) *job.Job {
	return &job.Job{Name: name, KillAfter: job.DefaultKillAfter, Timing: job.Timing{
		MaxLate:     job.DefaultMaxLate,
		Lease:       job.DefaultLease,
		Heartbeat:   job.DefaultHeartbeat,
		MaxAttempts: job.DefaultMaxAttempts,
		Overlap:     job.Skip,
		OnLost:      job.Kill,
	}}
}

func slotNow() job.Slot { return schedule.SlotOf(time.Now()) }

// win acquires the slot or fails the test.
func win(t *testing.T, in *instance, j *job.Job, slot job.Slot) *claim.Hold {
	t.Helper()
	answer := in.Acquire(t.Context(), j, slot)
	if answer.Kind != event.Won {
		t.Fatalf("acquire: got %+v, want won", answer)
	}
	return answer.Hold
}

func want(t *testing.T, what string, got claim.Answer, kind event.Kind) {
	t.Helper()
	if got.Kind != kind {
		t.Fatalf("%s: got %s (%s), want %s", what, got.Kind, got.Reason, kind)
	}
}

// fate is what happens to one call on a link.
type fate int

const (
	arrives     fate = iota
	refused          // not executed, and the caller knows
	requestLost      // not executed, and the caller doesn't know
	replyLost        // executed, and the caller doesn't know
	hangs            // not executed, no answer until the caller gives up
	nonsense         // not executed, and answered without a verdict
	answersLate      // executed and answered, even if the caller has given up
)

// link is a Store whose calls can be lost on their way. It stands for everything between an
// instance and the data.
type link struct {
	lease *memstore.Store
	gate  *memstore.Gate
	kind  pluginapi.Kind

	mu    sync.Mutex                    // guards what follows
	fate  func(op string) fate          // nil: everything arrives
	calls map[string]int                // how many of each kind were sent
	delay func(op string) time.Duration // nil: none
}

func (l *link) set(f func(op string) fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate = f
}

// always gives every call, or every call of the operations named, the same fate.
func always(f fate, ops ...string) func(string) fate {
	return func(op string) fate {
		if len(ops) == 0 || slices.Contains(ops, op) {
			return f
		}
		return arrives
	}
}

// first gives the first n calls of op a fate; the others arrive.
func first(n int, f fate, op string) func(string) fate {
	return func(o string) fate {
		if o != op || n == 0 {
			return arrives
		}
		n--
		return f
	}
}

func (l *link) sent(op string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[op]
}

func (l *link) next(op string) (fate, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[string]int{}
	}
	l.calls[op]++
	f, d := arrives, time.Duration(0)
	if l.fate != nil {
		f = l.fate(op)
	}
	if l.delay != nil {
		d = l.delay(op)
	}
	return f, d
}

// send lets a call meet its fate.
func send[R any](ctx context.Context, l *link, op string, execute func(context.Context) (R, error)) (R, error) {
	var none R
	f, d := l.next(op)
	wait(ctx, d)
	switch f {
	case refused:
		return none, pluginapi.Errorf(pluginapi.Unavailable, op, "refused")
	case requestLost:
		return none, pluginapi.Errorf(pluginapi.Ambiguous, op, "lost")
	case nonsense:
		return none, nil
	case hangs:
		<-ctx.Done()
		return none, ctx.Err()
	case replyLost:
		_, _ = execute(context.WithoutCancel(ctx))
		return none, pluginapi.Errorf(pluginapi.Ambiguous, op, "lost")
	case answersLate:
		return execute(context.WithoutCancel(ctx))
	default:
		return execute(ctx)
	}
}

func (l *link) Claim(ctx context.Context, c pluginapi.Claim) (pluginapi.ClaimResult, error) {
	return send(ctx, l, "claim", func(ctx context.Context) (pluginapi.ClaimResult, error) {
		claims := l.lease.Claim
		if l.kind == pluginapi.Gate {
			claims = l.gate.Claim
		}
		results, err := claims(ctx, []pluginapi.Claim{c})
		if err != nil {
			return pluginapi.ClaimResult{}, err
		}
		if results[0].Err != nil {
			return results[0], results[0].Err
		}
		return results[0], nil
	})
}

func (l *link) Heartbeat(ctx context.Context, h pluginapi.Heartbeat) (pluginapi.HeartbeatResult, error) {
	op := "heartbeat"
	if h.Lease == 0 {
		op = "release"
	}
	return send(ctx, l, op, func(ctx context.Context) (pluginapi.HeartbeatResult, error) {
		results, err := l.lease.Heartbeat(ctx, []pluginapi.Heartbeat{h})
		if err != nil {
			return pluginapi.HeartbeatResult{}, err
		}
		if results[0].Err != nil {
			return results[0], results[0].Err
		}
		return results[0], nil
	})
}

func (l *link) Finish(ctx context.Context, f pluginapi.Finish) (pluginapi.FinishResult, error) {
	return send(ctx, l, "finish", func(ctx context.Context) (pluginapi.FinishResult, error) {
		results, err := l.lease.Finish(ctx, []pluginapi.Finish{f})
		if err != nil {
			return pluginapi.FinishResult{}, err
		}
		if results[0].Err != nil {
			return results[0], results[0].Err
		}
		return results[0], nil
	})
}

func (l *link) Expired(ctx context.Context, q pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	return send(ctx, l, "expired", func(ctx context.Context) ([]pluginapi.RunRef, error) {
		return l.lease.Expired(ctx, q)
	})
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
