package timing

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

const (
	// maxWait is the longest that a timer is set for (semantics §4.6).
	maxWait = time.Minute
	// maxBatch is the most slots that are handed over at once, or skipped before the next look at the
	// clock: as many as a store is asked for in one batch.
	maxBatch = 512
	// maxCounted is how far one job's skipped slots are counted, and maxCountedAtOnce all jobs'
	// together in one wake: a night's sleep of a million jobs must not hold up what is due now.
	maxCounted, maxCountedAtOnce = 1000, 1_000_000
)

// shard waits for a part of the jobs. What isn't said to be shared belongs to the goroutine of run.
type shard struct {
	o       *Options
	random  *mathrand.Rand
	jobs    []cursor // as the last change has them
	queue   heap
	retired map[string]job.Slot // cursors of jobs that are gone, for a day
	batch   []Due               // reused
	budget  int                 // how many skipped slots may still be counted in this wake
	steps   *steps              // nil on all shards but one

	kick  chan struct{} // shared; size 1: a wake that is to come
	count counters      // shared

	mu      sync.Mutex // guards changes
	changes []change   // not taken over yet
}

func newShard(o *Options) *shard {
	seed := o.seed
	if seed == [16]byte{} {
		// Equal seeds would make instances draw equal delays, and so defeat jitter.
		_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
	}
	s := &shard{
		o:       o,
		retired: make(map[string]job.Slot),
		batch:   make([]Due, 0, maxBatch),
		kick:    make(chan struct{}, 1),
		random:  mathrand.New(mathrand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))), //nolint:gosec // it spreads load and guards nothing
	}
	s.count.earliest.Store(nothing)
	return s
}

// change has the shard take over a new set of jobs soon. It may be called concurrently with run.
func (s *shard) change(c change) {
	s.mu.Lock()
	s.changes = append(s.changes, c)
	s.mu.Unlock()
	s.wake()
}

// wake has the shard look at the clock. It may be called concurrently with run.
func (s *shard) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// run works until ctx ends.
func (s *shard) run(ctx context.Context) {
	if s.steps != nil {
		s.steps.begin()
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(s.work(ctx))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.kick:
		}
		if s.steps != nil {
			s.steps.look()
		}
	}
}

// work hands over all that is due and returns how long to wait for the next.
func (s *shard) work(ctx context.Context) time.Duration {
	s.count.wakes.Add(1)
	s.budget = maxCountedAtOnce
	for ctx.Err() == nil {
		s.takeOver()
		if wait := s.fire(); wait > 0 {
			return wait
		}
	}
	return maxWait
}

// fire hands over a batch of what is due and returns how long to wait for the next; 0 if there is
// more already.
func (s *shard) fire() time.Duration {
	now := s.o.Now()
	ms := now.UnixMilli()
	s.batch = s.batch[:0]
	for range maxBatch {
		if s.queue.len() == 0 || s.queue.at[0] > ms {
			break
		}
		s.take(ms)
	}
	if len(s.batch) > 0 {
		s.o.Hand(s.batch)
		s.count.handed.Add(int64(len(s.batch)))
	}
	s.count.waiting.Store(int64(s.queue.len()))
	if s.queue.len() == 0 {
		s.count.earliest.Store(nothing)
		return maxWait
	}
	next := s.queue.at[0]
	s.count.earliest.Store(next)
	if next <= ms {
		return 0
	}
	return min(maxWait, time.UnixMilli(next).Sub(now))
}

// take puts the earliest slot into the batch, or reports it, if it is late, with those that are late
// like it. Then the job waits for its next.
func (s *shard) take(now int64) {
	at, n := s.queue.at[0], s.queue.job[0]
	c := &s.jobs[n]
	onTime := job.Slot(now - c.job.MaxLate.Milliseconds()) // the first instant that isn't late
	if c.slot < onTime {
		s.skip(c, onTime)
	} else {
		s.batch = append(s.batch, Due{Job: c.job, Slot: c.slot, At: at})
		c.done = c.slot
	}
	if at, ok := s.arm(c); ok {
		s.queue.replaceTop(at, n)
	} else {
		s.queue.pop()
	}
}

// skip reports the slots of c before onTime, and moves the cursor there.
func (s *shard) skip(c *cursor, onTime job.Slot) {
	skipped := Skipped{Job: c.job, First: c.slot, Last: c.slot, Count: 1}
	for {
		next, ok := s.o.next(c.job, skipped.Last)
		s.budget--
		if !ok || next >= onTime || next <= skipped.Last {
			break
		}
		if skipped.Count == maxCounted || s.budget < 0 {
			skipped.More = true
			break
		}
		skipped.Last = next
		skipped.Count++
	}
	c.done = onTime - 1
	s.count.skipped.Add(int64(skipped.Count))
	s.o.Skip(skipped)
}
