package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin/internal/batch"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backend answers each item with its square, a second later, and notes what it was sent.
type backend struct {
	mu      sync.Mutex // guards what follows
	batches [][]int
	busy    int
	busiest int
	err     error
}

func (b *backend) send(ctx context.Context, items []int) ([]int, error) {
	b.mu.Lock()
	b.batches = append(b.batches, items)
	b.busy++
	b.busiest = max(b.busiest, b.busy)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.busy--
		b.mu.Unlock()
	}()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	squares := make([]int, len(items))
	for i, item := range items {
		squares[i] = item * item
	}
	return squares, b.err
}

func (b *backend) sizes() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sizes []int
	for _, items := range b.batches {
		sizes = append(sizes, len(items))
	}
	return sizes
}

// bubble runs a test in a bubble, with a Batcher that is closed at its end.
func bubble(t *testing.T, limits pluginapi.Limits, test func(ctx context.Context, b *backend, q *batch.Batcher[int, int])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		q := batch.New("square", limits, b.send)
		test(t.Context(), b, q)
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// do starts n calls, in order; the function that it returns waits for them.
func do(ctx context.Context, t *testing.T, q *batch.Batcher[int, int], n int) func() {
	t.Helper()
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			if got, err := q.Do(ctx, i); err != nil || got != i*i {
				t.Errorf("item %d: got %d, %v, want %d", i, got, err, i*i)
			}
		})
		synctest.Wait() // it is queued
	}
	return calls.Wait
}

func TestLoneCallerIsSentAtOnce(t *testing.T) {
	bubble(t, pluginapi.Limits{}, func(ctx context.Context, _ *backend, q *batch.Batcher[int, int]) {
		began := time.Now()
		do(ctx, t, q, 1)()
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %s, want the backend's second and nothing more", took)
		}
	})
}

func TestWhatWaitsGathersIntoOneBatch(t *testing.T) {
	bubble(t, pluginapi.Limits{MaxInFlight: 1}, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
		do(ctx, t, q, 100)()
		if got := b.sizes(); !slices.Equal(got, []int{1, 99}) {
			t.Errorf("got batches of %v, want 1 and 99", got)
		}
	})
}

func TestLimitsHold(t *testing.T) {
	for _, c := range []struct{ limits, want pluginapi.Limits }{
		{pluginapi.Limits{}, pluginapi.Limits{MaxBatch: batch.MaxItems, MaxInFlight: pluginapi.DefaultMaxInFlight}},
		{pluginapi.Limits{MaxBatch: 7, MaxInFlight: 2}, pluginapi.Limits{MaxBatch: 7, MaxInFlight: 2}},
		{pluginapi.Limits{MaxBatch: 1 << 20}, pluginapi.Limits{MaxBatch: batch.MaxItems, MaxInFlight: pluginapi.DefaultMaxInFlight}},
	} {
		t.Run(fmt.Sprintf("%+v", c.limits), func(t *testing.T) {
			bubble(t, c.limits, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
				do(ctx, t, q, 1500)()
				if b.busiest != c.want.MaxInFlight || slices.Max(b.sizes()) != c.want.MaxBatch {
					t.Errorf("got %d batches at a time, the largest of %d, want %+v", b.busiest, slices.Max(b.sizes()), c.want)
				}
			})
		})
	}
}

func TestOldestGoesFirst(t *testing.T) {
	bubble(t, pluginapi.Limits{MaxInFlight: 1, MaxBatch: 10}, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
		do(ctx, t, q, 41)()
		if all := slices.Concat(b.batches...); !slices.IsSorted(all) || len(all) != 41 {
			t.Errorf("got %v, want 0 to 40 in order", all)
		}
	})
}

func TestErrorOfABatchIsEveryItems(t *testing.T) {
	bubble(t, pluginapi.Limits{MaxInFlight: 1}, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
		b.err = pluginapi.Errorf(pluginapi.Capacity, "square", "full")
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				if _, err := q.Do(ctx, 1); !errors.Is(err, b.err) {
					t.Errorf("got %v, want %v", err, b.err)
				}
			})
		}
		calls.Wait()
	})
}

func TestWrongNumberOfAnswersIsInternal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := batch.New("square", pluginapi.Limits{}, func(context.Context, []int) ([]int, error) { return []int{1, 2}, nil })
		if _, err := q.Do(t.Context(), 1); err == nil || pluginapi.CodeOf(err) != pluginapi.Internal {
			t.Errorf("got %v, want Internal", err)
		}
	})
}

// A caller whose context ends is told at once whether its item can have been executed, and
// an item that can't have been never is.
func TestEndOfAContext(t *testing.T) {
	bubble(t, pluginapi.Limits{MaxInFlight: 1}, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
		ended := func(item int, patience time.Duration, want pluginapi.Code) func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
			var call sync.WaitGroup
			call.Go(func() {
				defer cancel()
				began := time.Now()
				if _, err := q.Do(ctx, item); err == nil || pluginapi.CodeOf(err) != want || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("item %d: got %v, want %s", item, err, want)
				}
				if took := time.Since(began); took != patience {
					t.Errorf("item %d: told after %s, want %s", item, took, patience)
				}
			})
			synctest.Wait()
			return call.Wait
		}
		sent := ended(1, 100*time.Millisecond, pluginapi.Ambiguous)
		queued := ended(2, 50*time.Millisecond, pluginapi.Unavailable)
		sent()
		queued()
		do(ctx, t, q, 1)() // the batch that held the first item gave the slot back
		if all := slices.Concat(b.batches...); !slices.Equal(all, []int{1, 0}) {
			t.Errorf("got %v sent, want 1 and 0: item 2 was given up before", all)
		}
	})
}

// An impatient caller doesn't shorten the batch for the others.
func TestBatchIsAsPatientAsItsMostPatientCaller(t *testing.T) {
	bubble(t, pluginapi.Limits{MaxInFlight: 1}, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
		first := do(ctx, t, q, 1)
		short, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
		defer cancel()
		var impatient sync.WaitGroup
		impatient.Go(func() {
			if _, err := q.Do(short, 1); err == nil || pluginapi.CodeOf(err) != pluginapi.Ambiguous {
				t.Errorf("impatient: got %v, want Ambiguous", err)
			}
		})
		synctest.Wait()
		patient := do(ctx, t, q, 1)
		first()
		impatient.Wait()
		patient()
		if got := b.sizes(); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("got batches of %v, want 1 and 2", got)
		}
	})
}

func TestSilentBackendDoesNotKeepItsSlotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := batch.New("square", pluginapi.Limits{MaxInFlight: 1}, func(ctx context.Context, _ []int) ([]int, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		began := time.Now()
		if _, err := q.Do(t.Context(), 1); pluginapi.CodeOf(err) != pluginapi.Ambiguous {
			t.Errorf("got %v, want Ambiguous", err)
		}
		if took := time.Since(began); took != batch.DefaultTimeout {
			t.Errorf("took %s, want %s", took, batch.DefaultTimeout)
		}
	})
}

func TestClose(t *testing.T) {
	bubble(t, pluginapi.Limits{MaxInFlight: 1}, func(ctx context.Context, b *backend, q *batch.Batcher[int, int]) {
		underWay := do(ctx, t, q, 5)
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := q.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close with a short time: got %v", err)
		}
		if _, err := q.Do(ctx, 9); err == nil || pluginapi.CodeOf(err) != pluginapi.Unavailable {
			t.Errorf("call after close: got %v, want Unavailable", err)
		}
		if err := q.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		underWay() // all were answered
		if got := b.sizes(); !slices.Equal(got, []int{1, 4}) {
			t.Errorf("got batches of %v, want 1 and 4", got)
		}
	})
}

// Claims of many callers through a Batcher into a store: each slot is won exactly once, and
// each caller gets its own answer.
func TestClaimsOfManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(memstore.Options{})
		q := batch.New("claim", pluginapi.Limits{MaxBatch: 64}, store.Claim)
		slot := pluginapi.SlotOf(time.Now())
		const slots, callers = 500, 8
		var mu sync.Mutex
		won := map[pluginapi.Slot]int{}
		var calls sync.WaitGroup
		for i := range pluginapi.Slot(slots) {
			for c := range callers {
				calls.Go(func() {
					name := fmt.Sprint("instance-", c)
					result, err := q.Do(t.Context(), pluginapi.Claim{
						Job: "a", Slot: slot + i, Token: pluginapi.NewToken(), Instance: name,
						Lease: time.Minute, MaxLate: time.Minute, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
					})
					if err != nil || result.Err != nil {
						t.Errorf("slot %d: %v, %v", i, err, result.Err)
					}
					if result.Verdict == pluginapi.Won {
						if result.Holder != name {
							t.Errorf("slot %d: %s got the answer to %s", i, name, result.Holder)
						}
						mu.Lock()
						won[slot+i]++
						mu.Unlock()
					}
				})
			}
		}
		calls.Wait()
		for i := range pluginapi.Slot(slots) {
			if won[slot+i] != 1 {
				t.Errorf("slot %d was won %d times", i, won[slot+i])
			}
		}
	})
}
