package sqlite

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// maxItems is how many items end the gathering for a transaction: more only let the first
// ones wait, since the fsync is shared already.
const maxItems = 512

// writer is the one goroutine that writes.
type writer struct {
	db      *database
	history int
	now     func() instant
	tx      *transaction // nil before the first one, and after a failure
	// work has no buffer, so a request that was never taken is known not to be executed.
	work    chan *request
	stop    chan struct{}
	stopped chan struct{}
}

// request is one caller's part of a transaction.
type request struct {
	items int
	apply func(context.Context, *transaction) error
	done  chan error // size 1: the caller may have gone
}

func newWriter(db *database, history int, now func() instant) *writer {
	return &writer{
		db: db, history: history, now: now,
		work: make(chan *request), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// do has apply carried out in a transaction, and returns when it is committed. When ctx ends
// while it waits for that, the answer is Ambiguous, and apply may still be carried out: what
// it writes to must not be read then. An error of apply undoes the whole transaction.
func (w *writer) do(ctx context.Context, op string, items int, apply func(context.Context, *transaction) error) error {
	if items == 0 {
		return nil
	}
	r := &request{items: items, apply: apply, done: make(chan error, 1)}
	select {
	case w.work <- r:
	case <-ctx.Done():
		return fault(op, w.db.path, ctx.Err())
	}
	select {
	case err := <-r.done:
		if err != nil {
			return fault(op, w.db.path, err)
		}
		return nil
	case <-ctx.Done():
		return pluginapi.AsError(op, ctx.Err())
	}
}

// run writes until close is called. Its context has no end: what has begun is finished.
func (w *writer) run(ctx context.Context) {
	defer close(w.stopped)
	for {
		select {
		case <-w.stop:
			return
		case first := <-w.work:
			batch, err := w.write(ctx, first)
			for _, r := range batch {
				r.done <- err
			}
		}
	}
}

// write carries out, in one transaction, the request and all others that have come up until
// the write lock is held.
func (w *writer) write(ctx context.Context, first *request) (batch []*request, err error) {
	err = w.lock(ctx)
	batch = w.gather(first)
	if err != nil {
		return batch, err
	}
	for _, r := range batch {
		if err := r.apply(ctx, w.tx); err != nil {
			return batch, w.abandon(ctx, err)
		}
	}
	if _, err := w.tx.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return batch, w.abandon(ctx, commitFault(w.db.path, err))
	}
	return batch, nil
}

// lock begins a transaction, which holds the write lock from then on.
func (w *writer) lock(ctx context.Context) (err error) {
	if w.tx == nil {
		if err := w.db.check(); err != nil { // a new connection would open what is there instead
			return err
		}
		if w.tx, err = w.db.transact(ctx, w.history, w.now); err != nil {
			return err
		}
	}
	if _, err := w.tx.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return w.abandon(ctx, err)
	}
	if err := w.db.check(); err != nil {
		return w.abandon(ctx, err)
	}
	return nil
}

// gather takes the requests that wait, without waiting for more.
func (w *writer) gather(first *request) []*request {
	batch := []*request{first}
	for items := first.items; items < maxItems; {
		select {
		case r := <-w.work:
			batch = append(batch, r)
			items += r.items
		default:
			return batch
		}
	}
	return batch
}

// abandon undoes the transaction and returns err. The next one begins on a new connection,
// whatever state this one is in: SQLite undoes some transactions by itself.
func (w *writer) abandon(ctx context.Context, err error) error {
	_, _ = w.tx.conn.ExecContext(ctx, "ROLLBACK") // fails if there is nothing to undo any more
	w.tx.close()
	w.tx = nil
	return err
}

// close ends the goroutine. Nothing may be asked of the writer any more.
func (w *writer) close() {
	close(w.stop)
	<-w.stopped
	if w.tx != nil {
		w.tx.close()
	}
}
