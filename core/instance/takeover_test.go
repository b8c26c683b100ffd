package instance_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// holder returns the instance that has the only run, and the other one.
func (w *world) holder(a, b *node) (holder, backup *node) {
	w.t.Helper()
	starts := w.starts()
	if len(starts) != 1 {
		w.t.Fatalf("got starts %+v; want one", starts)
	}
	if starts[0].instance == a.name {
		return a, b
	}
	return b, a
}

// second returns the second start, which must be the last.
func (w *world) second() attempt {
	w.t.Helper()
	starts := w.starts()
	if len(starts) != 2 {
		w.t.Fatalf("got starts %+v; want two", starts)
	}
	return starts[1]
}

func TestTakeoverWithinTheLeaseAndTwoHeartbeats(t *testing.T) {
	inWorld(t, takes(5*time.Minute), daily(t), func(w *world) {
		a, b := w.start("a"), w.start("b")
		pass(72 * time.Second)
		holder, backup := w.holder(a, b)
		holder.kill()
		killed := sinceMidnight()
		pass(10 * time.Minute)

		second := w.second()
		if second.instance != backup.name || second.number != 2 {
			t.Errorf("got start %+v; want attempt 2 on %s", second, backup.name)
		}
		j := w.jobs[0]
		after := second.at - killed
		if earliest, latest := j.Lease-j.Heartbeat, j.Lease+2*j.Heartbeat; after < earliest || after > latest {
			t.Errorf("taken over %s after the kill; want from %s, the lease's end, to %s", after, earliest, latest)
		}
		if run := w.stored(); run.Outcome != pluginapi.Succeeded {
			t.Errorf("got outcome %s; want succeeded", run.Outcome)
		}
		finals := backup.finals()
		last := finals[len(finals)-1]
		if len(finals) != 2 || finals[0].Kind != event.Taken || last.Kind != event.Finished || !last.Takeover || last.Attempt != 2 {
			t.Errorf("%s got %+v; want taken, then finished as a takeover", backup.name, finals)
		}
	})
}

func TestRunWithoutAnAttemptLeftIsInterrupted(t *testing.T) {
	jobs := daily(t, func(j *job.Job) { j.MaxAttempts = 1 })
	inWorld(t, takes(5*time.Minute), jobs, func(w *world) {
		a, b := w.start("a"), w.start("b")
		pass(time.Second)
		holder, backup := w.holder(a, b)
		holder.kill()
		pass(10 * time.Minute)
		if starts := w.starts(); len(starts) != 1 {
			t.Errorf("got starts %+v; want no second one", starts)
		}
		if run := w.stored(); run.Outcome != pluginapi.Interrupted {
			t.Errorf("got outcome %q; want interrupted", run.Outcome)
		}
		if e := backup.only(); e.Kind != event.Taken {
			t.Errorf("got %+v; want taken", e)
		}
	})
}

// A holder that is cut off from the store stops its work before another can begin with it.
func TestHolderThatCannotRenewIsLost(t *testing.T) {
	inWorld(t, takes(5*time.Minute), daily(t), func(w *world) {
		a, b := w.start("a"), w.start("b")
		pass(time.Second)
		holder, _ := w.holder(a, b)
		holder.link.cut()
		pass(10 * time.Minute)

		lost := holder.only()
		if lost.Kind != event.Lost || !strings.Contains(lost.Reason, "couldn't be extended") || lost.Outcome != "" {
			t.Errorf("got %+v; want lost, without an outcome", lost)
		}
		if second := w.second(); lost.Time.Sub(midnight) >= second.at {
			t.Errorf("the first attempt ended at %s, the second began at %s; want them one after the other", lost.Time.Sub(midnight), second.at)
		}
	})
}

// With on_lost = "continue" the work goes on; the fenced holder's outcome changes nothing.
func TestFencedHolderIsLost(t *testing.T) {
	jobs := daily(t, func(j *job.Job) { j.OnLost = job.Continue })
	work := func(ctx context.Context, spec runner.Spec) (runner.Result, error) {
		result, err := takes(2*time.Minute)(ctx, spec)
		if spec.Attempt == 2 {
			result = runner.Result{Outcome: pluginapi.Failed, ExitCode: 7}
		}
		return result, err
	}
	inWorld(t, work, jobs, func(w *world) {
		a, b := w.start("a"), w.start("b")
		pass(time.Second)
		holder, backup := w.holder(a, b)
		holder.link.cut()
		pass(time.Minute)
		holder.link.heal()
		pass(10 * time.Minute)

		if e := holder.only(); e.Kind != event.Lost || e.Took != 2*time.Minute {
			t.Errorf("%s got %+v; want lost after 2m", holder.name, e)
		}
		if e := backup.finals()[1]; e.Kind != event.Finished || e.ExitCode != 7 {
			t.Errorf("%s got %+v; want finished with exit code 7", backup.name, e)
		}
		if run := w.stored(); run.Outcome != pluginapi.Failed || run.ExitCode != 7 {
			t.Errorf("the store has %s, exit code %d; want the second attempt's", run.Outcome, run.ExitCode)
		}
	})
}

// The work's own guard stops it at the end of a lease that was extended after all, as when this
// process was frozen: the run isn't over, and isn't lost.
func TestInterruptedWorkIsHandedOn(t *testing.T) {
	work := func(ctx context.Context, spec runner.Spec) (runner.Result, error) {
		if spec.Attempt == 1 {
			return runner.Result{Outcome: pluginapi.Interrupted, Detail: "stopped before the end of the run's lease"}, nil
		}
		return takes(time.Second)(ctx, spec)
	}
	inWorld(t, work, daily(t), func(w *world) {
		n := w.start("a")
		pass(time.Minute)
		if finals := n.finals(); len(finals) != 2 || finals[0].Kind != event.Released || finals[1].Kind != event.Finished {
			t.Errorf("got %+v; want released, then finished", finals)
		}
		if run := w.stored(); run.Outcome != pluginapi.Succeeded || len(run.Attempts) != 2 {
			t.Errorf("got %+v; want it to succeed in attempt 2", run)
		}
	})
}
