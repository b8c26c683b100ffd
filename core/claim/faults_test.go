package claim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// storm is a bubble in which several instances run many slots over bad links, and what may
// never happen there.
type storm struct {
	w    *world
	jobs []*job.Job

	mu       sync.Mutex         // guards what follows
	rand     *rand.Rand         // the links' and the work's
	working  map[job.Run]string // whose work is going on now
	finished map[job.Run]int    // how often a finish was told to be written
	ends     map[event.Kind]int
	lost     int
}

// TestNothingIsDoubledOrLostOverBadLinks loses requests and replies at random, delays them,
// and cuts instances off for up to a minute. No two instances may work on a run at once, and
// every slot must end as succeeded, by exactly one finish.
func TestNothingIsDoubledOrLostOverBadLinks(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed_", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runStorm(t, seed) })
		})
	}
}

const (
	stormInstances = 4
	stormJobs      = 10
	stormSlots     = 100 // of each job
)

func runStorm(t *testing.T, seed uint64) {
	t.Helper()
	s := &storm{
		w:        newWorld(t),
		rand:     rand.New(rand.NewPCG(seed, 0)),
		working:  map[job.Run]string{},
		finished: map[job.Run]int{},
		ends:     map[event.Kind]int{},
	}
	for i := range stormJobs {
		j := newJob(fmt.Sprint("job-", i))
		j.Overlap, j.MaxAttempts = job.Allow, 1000
		setting := settings[i%len(settings)]
		j.Lease, j.Heartbeat = setting.lease, setting.heartbeat
		s.jobs = append(s.jobs, j)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range stormInstances {
		in := s.w.instance(fmt.Sprint("instance-", i))
		in.link.fate, in.link.delay = s.weather(), s.delay
		work.Go(func() { s.watch(ctx, in, &work) })
		work.Go(func() { s.fire(t.Context(), in, &work) })
	}
	for s.ended() < stormJobs*stormSlots && s.w.sinceStart() < 24*time.Hour {
		<-time.After(time.Minute)
	}
	cancel()
	work.Wait()
	s.check(t)
	t.Logf("events %v, lost runs %d, %s of bubble time", s.ends, s.lost, s.w.sinceStart())
}

// weather gives the fates of one instance's calls: a third of them is lost in some way, and
// now and then all of them for a while.
func (s *storm) weather() func(string) fate {
	var cutUntil time.Time
	return func(string) fate {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := time.Now()
		if s.rand.IntN(1000) == 0 {
			cutUntil = now.Add(time.Duration(s.rand.Int64N(int64(time.Minute))))
		}
		if now.Before(cutUntil) {
			return []fate{refused, requestLost, replyLost, hangs}[s.rand.IntN(4)]
		}
		return []fate{arrives, arrives, arrives, arrives, arrives, arrives, refused, requestLost, replyLost}[s.rand.IntN(9)]
	}
}

func (s *storm) delay(string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rand.IntN(50) == 0 {
		return time.Duration(s.rand.Int64N(int64(3 * time.Second)))
	}
	return time.Duration(s.rand.Int64N(int64(20 * time.Millisecond)))
}

// fire claims every slot of every job, as the timing of an instance would.
func (s *storm) fire(ctx context.Context, in *instance, work *sync.WaitGroup) {
	first := slotNow()
	for i := range stormSlots {
		slot := first + job.Slot(i*7000)
		<-time.After(time.Until(slot.Time()))
		for _, j := range s.jobs {
			work.Go(func() { s.settle(ctx, in.Acquire(ctx, j, slot)) })
		}
	}
}

func (s *storm) watch(ctx context.Context, in *instance, work *sync.WaitGroup) {
	known := map[string]*job.Job{}
	for _, j := range s.jobs {
		known[j.Name] = j
	}
	_ = in.Watch(ctx, claim.Scan{
		Heartbeat: func() time.Duration { return time.Second },
		Job:       func(name string) *job.Job { return known[name] },
		Hand: func(j *job.Job, slot job.Slot) {
			work.Go(func() { s.settle(ctx, in.Takeover(ctx, j, slot)) })
		},
	})
}

// settle works on a run that was won, and ends it in one of the ways there are.
func (s *storm) settle(ctx context.Context, answer claim.Answer) {
	s.mu.Lock()
	s.ends[answer.Kind]++
	length := time.Duration(s.rand.Int64N(int64(40 * time.Second)))
	release := s.rand.IntN(10) == 0
	s.mu.Unlock()
	if answer.Hold == nil {
		return
	}
	run, outlive := answer.Hold.Run(), context.WithoutCancel(ctx)
	s.begin(run, answer.Holder)
	select {
	case <-answer.Hold.Context().Done():
	case <-time.After(length):
	}
	s.end(run)
	if release {
		_ = answer.Hold.Release(outlive)
		return
	}
	err := answer.Hold.Finish(outlive, pluginapi.Succeeded, 0, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.finished[run]++
	case errors.Is(err, claim.ErrLost):
		s.lost++
	default:
		s.w.t.Errorf("%s: finish: %v", run, err)
	}
}

func (s *storm) begin(run job.Run, instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, busy := s.working[run]; busy {
		s.w.t.Errorf("%s: %s works on it while %s does", run, instance, other)
	}
	s.working[run] = instance
}

func (s *storm) end(run job.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.working, run)
}

func (s *storm) ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.finished)
}

// check compares what the instances were told with what the store has.
func (s *storm) check(t *testing.T) {
	t.Helper()
	for run, n := range s.finished {
		if n != 1 {
			t.Errorf("%s: %d finishes were told to be written", run, n)
		}
	}
	for _, j := range s.jobs {
		page, err := s.w.data.Runs(t.Context(), pluginapi.RunsQuery{Job: j.Name, Limit: 2 * stormSlots})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Runs) != stormSlots {
			t.Errorf("%s: the store has %d runs, want %d", j.Name, len(page.Runs), stormSlots)
		}
		for _, run := range page.Runs {
			if run.Outcome != pluginapi.Succeeded {
				t.Errorf("%s of %d: got %q, want succeeded", run.Job, run.Slot, run.Outcome)
			}
		}
	}
}
