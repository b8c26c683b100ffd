package instance_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/event/eventtest"
	"github.com/anarchon-scheduler/anarchon/core/instance"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// world is one store and the instances on it, in a synctest bubble that begins at midnight.
type world struct {
	t    *testing.T
	data *memstore.Store
	jobs []*job.Job
	work work
	due  []job.Run     // the runs that must end on every instance, where the test knows them
	over chan struct{} // closed when the test ends: what was killed or hangs goes on only then

	mu       sync.Mutex // guards what follows
	attempts []attempt
}

// work stands for a job's command.
type work func(ctx context.Context, spec runner.Spec) (runner.Result, error)

// attempt is a start of a job's work.
type attempt struct {
	run      job.Run
	number   int
	instance string
	at       time.Duration // since midnight
}

// inWorld runs test in a bubble with a store and no instances.
func inWorld(t *testing.T, w work, jobs []*job.Job, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(&world{
			t: t, jobs: jobs, work: w, over: make(chan struct{}),
			data: memstore.New(memstore.Options{History: 1 << 20}),
		})
	})
}

// node is one instance and what is around it.
type node struct {
	*instance.Instance
	w      *world
	name   string
	link   *link
	ledger *event.Ledger
	cancel context.CancelFunc
	ended  chan error
	ahead  atomic.Int64 // of the wall clock, in nanoseconds
	killed atomic.Bool

	mu     sync.Mutex // guards events
	events []event.Event
}

// start starts an instance; what it is made of may be changed first. It is stopped when the
// test ends, and must have ended every turn by then unless it was killed.
func (w *world) start(name string, change ...func(*instance.Options)) *node {
	w.t.Helper()
	n := &node{w: w, name: name, ended: make(chan error, 1)}
	n.link = &link{lease: w.data.Open(), gate: w.data.Gate()}
	bus := &event.Bus{}
	n.ledger = event.NewLedger(1 << 20)
	for _, run := range w.due {
		n.ledger.Due(run)
	}
	bus.Subscribe(n.ledger.Note)
	bus.Subscribe(n.note)
	began := time.Now()
	o := instance.Options{
		Name: name, Jobs: w.jobs, Store: n.link, Kind: pluginapi.Lease, DrainTimeout: time.Minute,
		Events: bus, Log: slog.New(slog.DiscardHandler), Attempt: n.attempt,
		Now:  func() time.Time { return time.Now().Add(time.Duration(n.ahead.Load())) },
		Boot: func() time.Duration { return time.Since(began) },
	}
	for _, f := range change {
		f(&o)
	}
	n.link.kind = o.Kind
	var err error
	if n.Instance, err = instance.New(o); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	n.cancel = cancel
	go func() { n.ended <- n.Run(ctx) }()
	w.t.Cleanup(n.finish)
	return n
}

// finish stops the instance, if the test hasn't, and checks its books.
func (n *node) finish() {
	select {
	case <-n.w.over:
	default:
		close(n.w.over)
	}
	n.stop()
	n.wait()
	if !n.killed.Load() {
		eventtest.Check(n.w.t, n.ledger)
	}
}

// stop asks the instance to end, as a signal does.
func (n *node) stop() { n.cancel() }

// wait waits for the instance to end; repeating it changes nothing.
func (n *node) wait() {
	if err, ok := <-n.ended; ok {
		close(n.ended)
		if err != nil {
			n.w.t.Errorf("%s: Run() = %v; want nil", n.name, err)
		}
	}
}

// kill is kill -9 as far as others can see: no call arrives any more, and no work ends.
func (n *node) kill() {
	n.killed.Store(true)
	n.link.cut()
}

// attempt is the runner: it notes the start and does the work.
func (n *node) attempt(ctx context.Context, spec runner.Spec, _ runner.Lease) (runner.Result, error) {
	n.w.mu.Lock()
	n.w.attempts = append(n.w.attempts, attempt{spec.Run, spec.Attempt, spec.Instance, sinceMidnight()})
	n.w.mu.Unlock()
	result, err := n.w.work(ctx, spec)
	if n.killed.Load() {
		<-n.w.over
	}
	return result, err
}

func (n *node) note(e event.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
}

// finals returns the final events, in their order.
func (n *node) finals() []event.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.events), func(e event.Event) bool { return !e.Kind.Final() })
}

// kinds returns the final events' kinds, in their order.
func (n *node) kinds() []event.Kind {
	var kinds []event.Kind
	for _, e := range n.finals() {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// only returns the one final event, or fails the test.
func (n *node) only() event.Event {
	n.w.t.Helper()
	finals := n.finals()
	if len(finals) != 1 {
		n.w.t.Fatalf("%s: got final events %+v; want one", n.name, finals)
	}
	return finals[0]
}

// starts returns the attempts that were begun so far.
func (w *world) starts() []attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.attempts)
}

// stored returns what the store knows of the run of the first job at midnight.
func (w *world) stored() pluginapi.Run {
	w.t.Helper()
	page, err := w.data.Runs(w.t.Context(), pluginapi.RunsQuery{Job: w.jobs[0].Name, Slot: pluginapi.SlotOf(midnight)})
	if err != nil || len(page.Runs) != 1 {
		w.t.Fatalf("the store has %d runs (%v); want one", len(page.Runs), err)
	}
	return page.Runs[0]
}

// midnight is when a bubble begins.
var midnight = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

func sinceMidnight() time.Duration { return time.Since(midnight) }

// pass lets time go by until every goroutine waits again.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// takes is work that succeeds after d, and stops when it is told to.
func takes(d time.Duration) work {
	return func(ctx context.Context, _ runner.Spec) (runner.Result, error) {
		select {
		case <-time.After(d):
			return runner.Result{Outcome: pluginapi.Succeeded}, nil
		case <-ctx.Done():
			return runner.Result{Outcome: pluginapi.Interrupted, ExitCode: 143, Detail: context.Cause(ctx).Error()}, nil
		}
	}
}

// newJob returns a job with the default timings but without jitter; the bubble's midnight is
// one of its slots.
func newJob(t *testing.T, name, cron string) *job.Job {
	t.Helper()
	s, err := schedule.Parse(cron, schedule.Options{Job: name})
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Name: name, Enabled: true, Schedule: s, KillAfter: job.DefaultKillAfter, Timing: job.DefaultTiming(0)}
	j.Jitter = 0
	return j
}

// daily is a job whose only slot in these tests is midnight.
func daily(t *testing.T, change ...func(*job.Job)) []*job.Job {
	t.Helper()
	j := newJob(t, "daily", "0 0 * * *")
	for _, f := range change {
		f(j)
	}
	return []*job.Job{j}
}
