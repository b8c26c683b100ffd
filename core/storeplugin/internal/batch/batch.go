// Package batch turns calls of one item each into calls of many.
//
// There is no timer: a batch is sent as soon as a slot for one is free, with all that is
// queued by then. So a lone caller waits for nobody, and the more callers there are, the
// larger the batches get.
package batch

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// DefaultTimeout bounds a batch none of whose callers has a deadline.
const DefaultTimeout = 30 * time.Second

// MaxItems is the most items of a batch, whatever the store's limits: with an item's largest
// size it keeps a message below the 1 MiB that each plugin must take.
const MaxItems = 512

// Batcher sends items of one kind. Its methods may be called concurrently.
type Batcher[I, R any] struct {
	op   string
	send func(ctx context.Context, items []I) ([]R, error)

	mu       sync.Mutex     // guards what follows
	queue    []*call[I, R]  // not sent yet, oldest first
	sending  int            // how many batches are under way
	items    int            // the most items of a batch
	inFlight int            // the most batches under way
	closed   bool           // no more calls are taken
	senders  sync.WaitGroup // the goroutines that send
}

// call is one caller's item on its way.
type call[I, R any] struct {
	item     I
	deadline time.Time     // zero: none
	done     chan struct{} // closed when result and err are set
	result   R
	err      error
	sent     bool // guarded by Batcher.mu
	gone     bool // guarded by Batcher.mu: its caller has given up
}

// New returns a Batcher that sends with send, which returns one result for each item, in
// order, or an error that speaks for all of them. op names the operation in errors.
func New[I, R any](op string, limits pluginapi.Limits, send func(context.Context, []I) ([]R, error)) *Batcher[I, R] {
	b := &Batcher[I, R]{op: op, send: send}
	b.SetLimits(limits)
	return b
}

// SetLimits changes the limits for the batches to come.
func (b *Batcher[I, R]) SetLimits(limits pluginapi.Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items, b.inFlight = MaxItems, pluginapi.DefaultMaxInFlight
	if limits.MaxBatch > 0 {
		b.items = min(limits.MaxBatch, MaxItems)
	}
	if limits.MaxInFlight > 0 {
		b.inFlight = limits.MaxInFlight
	}
}

// Do sends item in a batch and returns its result, or the batch's error. When ctx ends first
// it returns at once: with an Unavailable error if the item was still queued, and then it is
// never sent; with an Ambiguous one if it was sent.
func (b *Batcher[I, R]) Do(ctx context.Context, item I) (R, error) {
	c := &call[I, R]{item: item, done: make(chan struct{})}
	c.deadline, _ = ctx.Deadline()
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return c.result, pluginapi.Errorf(pluginapi.Unavailable, b.op, "the store is closed")
	}
	b.queue = append(b.queue, c)
	if b.sending < b.inFlight {
		b.sending++
		outlive := context.WithoutCancel(ctx) // the batch is others' too
		b.senders.Go(func() { b.drain(outlive) })
	}
	b.mu.Unlock()
	select {
	case <-c.done:
		return c.result, c.err
	case <-ctx.Done():
		return b.giveUp(ctx, c)
	}
}

// giveUp ends a call whose caller waits no longer.
func (b *Batcher[I, R]) giveUp(ctx context.Context, c *call[I, R]) (R, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.done: // just in time
		return c.result, c.err
	default:
	}
	var none R
	if !c.sent {
		c.gone = true
		return none, pluginapi.Errorf(pluginapi.Unavailable, b.op, "not sent in time: %w", context.Cause(ctx))
	}
	return none, pluginapi.Errorf(pluginapi.Ambiguous, b.op, "no answer in time: %w", context.Cause(ctx))
}

// Close refuses further calls and waits until those under way have been answered, or ctx
// ends. It may be called more than once.
func (b *Batcher[I, R]) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		b.senders.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drain sends one batch after the other until nothing is queued.
func (b *Batcher[I, R]) drain(ctx context.Context) {
	for {
		// Let the callers run that are about to queue an item: those that came together, and
		// those whose answers were just handed out. Else a first few items would go alone, and
		// all others would wait for them. A lone caller loses nothing: there is nobody to run.
		runtime.Gosched()
		calls := b.take()
		if calls == nil {
			return
		}
		b.sendBatch(ctx, calls)
	}
}

// take takes the next batch from the queue; nil, and one sender less, when there is none.
func (b *Batcher[I, R]) take() []*call[I, R] {
	b.mu.Lock()
	defer b.mu.Unlock()
	var calls []*call[I, R]
	for len(b.queue) > 0 && len(calls) < b.items {
		c := b.queue[0]
		b.queue[0] = nil
		b.queue = b.queue[1:]
		if !c.gone {
			c.sent = true
			calls = append(calls, c)
		}
	}
	if calls == nil {
		b.sending--
	}
	return calls
}

// sendBatch sends calls and hands out what comes back. The batch may take as long as the most
// patient of its callers: the others leave by themselves.
func (b *Batcher[I, R]) sendBatch(ctx context.Context, calls []*call[I, R]) {
	items := make([]I, len(calls))
	var deadline time.Time
	for i, c := range calls {
		items[i] = c.item
		if c.deadline.IsZero() {
			c.deadline = time.Now().Add(DefaultTimeout)
		}
		if c.deadline.After(deadline) {
			deadline = c.deadline
		}
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	results, err := b.send(ctx, items)
	cancel()
	if err == nil && len(results) != len(items) {
		err = pluginapi.Errorf(pluginapi.Internal, b.op, "the store gave %d answers to %d items", len(results), len(items))
	}
	for i, c := range calls {
		if err != nil {
			c.err = err
		} else {
			c.result = results[i]
		}
		close(c.done)
	}
}
