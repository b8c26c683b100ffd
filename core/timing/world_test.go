package timing_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/core/timing"
)

// world is an instance's clocks, in a bubble, and what its engine hands over.
type world struct {
	t      *testing.T
	engine *timing.Engine
	log    strings.Builder

	mu      sync.Mutex // guards what follows
	offset  time.Duration
	asleep  time.Duration
	handed  []hand
	skipped []timing.Skipped
	steps   []timing.Step
}

// hand is a slot that was handed over, and when.
type hand struct {
	timing.Due
	now time.Time
}

// inWorld runs test in a bubble, with an engine that isn't running yet.
func inWorld(t *testing.T, o timing.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t, o)) })
}

func newWorld(t *testing.T, o timing.Options) *world {
	t.Helper()
	w := &world{t: t}
	o.Now, o.Boot, o.OnStep = w.now, w.boot, w.step
	o.Skip = w.skip
	if o.Hand == nil {
		o.Hand = w.hand
	}
	o.Log = slog.New(slog.NewTextHandler(&w.log, nil))
	var err error
	if w.engine, err = timing.New(o); err != nil {
		t.Fatal(err)
	}
	return w
}

// start runs the engine until the test ends, or the result is called.
func (w *world) start() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.engine.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				w.t.Errorf("Run() = %v; want nil", err)
			}
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// pass lets time go by until every goroutine waits again.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// clock sets the wall clock to a time.
func (w *world) clock(text string) {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		w.t.Fatal(err)
	}
	w.stepClock(at.Sub(w.now()))
}

// stepClock puts the wall clock forward, or back.
func (w *world) stepClock(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offset += by
}

// sleep has the machine sleep: Go's timers don't notice.
func (w *world) sleep(d time.Duration) {
	w.stepClock(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asleep += d
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.offset).UTC()
}

func (w *world) boot() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(time.Now().UnixNano()) + w.asleep // the bubble's clock is never stepped
}

func (w *world) hand(batch []timing.Due) {
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, d := range batch {
		if n > 0 && d.At < batch[n-1].At {
			w.t.Errorf("%s@%d was handed over after one that was due later", d.Job.Name, d.Slot)
		}
		w.handed = append(w.handed, hand{d, now})
	}
}

func (w *world) skip(s timing.Skipped) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skipped = append(w.skipped, s)
}

func (w *world) step(s timing.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
}

// taken returns what was handed over since the last call, having checked what holds always: it
// was due, within its jitter, and in time.
func (w *world) taken() []hand {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	handed := w.handed
	w.handed = nil
	for _, h := range handed {
		run := job.Run{Job: h.Job.Name, Slot: h.Slot}
		if h.now.UnixMilli() < h.At {
			w.t.Errorf("%s was handed over at %s, before it was due (%s)", run, h.now, time.UnixMilli(h.At).UTC())
		}
		if delay := h.At - int64(h.Slot); delay < 0 || delay > h.Job.Jitter.Milliseconds() {
			w.t.Errorf("%s was delayed by %d ms; want 0 to %s", run, delay, h.Job.Jitter)
		}
		if late := h.now.Sub(h.Slot.Time()); late > h.Job.MaxLate {
			w.t.Errorf("%s was handed over %s after its slot; want at most %s", run, late, h.Job.MaxLate)
		}
	}
	return handed
}

// runs returns the names of the runs, in the order of handing over.
func runs(handed []hand) []string {
	names := make([]string, len(handed))
	for n, h := range handed {
		names[n] = job.Run{Job: h.Job.Name, Slot: h.Slot}.String()
	}
	return names
}

// isOnce checks that no run is there twice.
func isOnce(t *testing.T, handed []hand) {
	t.Helper()
	seen := make(map[job.Run]bool)
	for _, h := range handed {
		run := job.Run{Job: h.Job.Name, Slot: h.Slot}
		if seen[run] {
			t.Errorf("%s was handed over twice", run)
		}
		seen[run] = true
	}
}

func parse(t *testing.T, text string, o schedule.Options) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func zone(t *testing.T, name string) *schedule.Zone {
	t.Helper()
	z, err := schedule.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// newJob returns a job without jitter and with the default limit of lateness.
func newJob(t *testing.T, name, text string) *job.Job {
	t.Helper()
	return &job.Job{
		Name: name, Enabled: true, Store: "main",
		Schedule: parse(t, text, schedule.Options{Job: name}),
		Timing:   job.Timing{MaxLate: job.DefaultMaxLate},
	}
}
