package instance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/instance"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func TestAttemptThatCannotBeStartedFails(t *testing.T) {
	work := func(context.Context, runner.Spec) (runner.Result, error) {
		return runner.Result{}, errors.New("no more processes")
	}
	inWorld(t, work, daily(t), func(w *world) {
		n := w.start("a")
		pass(time.Minute)
		const want = "not started: no more processes"
		if e := n.only(); e.Kind != event.Finished || e.Outcome != "failed" || e.Reason != want {
			t.Errorf("got %+v; want finished as failed, %q", e, want)
		}
		if run := w.stored(); run.Outcome != pluginapi.Failed || run.Detail != want {
			t.Errorf("the store has %+v; want failed, %q", run, want)
		}
	})
}

func TestOutcomeIsSentUntilTheStoreAnswers(t *testing.T) {
	inWorld(t, takes(10*time.Second), daily(t), func(w *world) {
		n := w.start("a")
		n.link.cut("finish")
		pass(50 * time.Second)
		n.link.heal()
		pass(10 * time.Second)
		if e := n.only(); e.Kind != event.Finished || e.Took != 10*time.Second {
			t.Errorf("got %+v; want finished after 10s", e)
		}
		if got := len(w.stored().Attempts); got != 1 {
			t.Errorf("got %d attempts; want 1: heartbeats go on while the outcome is sent", got)
		}
	})
}

func TestOutcomeThatCannotBeWrittenIsUnknown(t *testing.T) {
	inWorld(t, takes(10*time.Second), daily(t), func(w *world) {
		n := w.start("a")
		n.link.cut("finish")
		pass(75 * time.Second)
		if e := n.only(); e.Kind != event.Unknown || !strings.Contains(e.Reason, "succeeded") || e.Outcome != "" {
			t.Errorf("got %+v; want unknown, with the outcome in its reason only", e)
		}
		n.link.heal()
		pass(2 * time.Minute)
		if run := w.stored(); run.Outcome != pluginapi.Succeeded || len(run.Attempts) != 2 {
			t.Errorf("the store has %+v; want it run again after the lease", run)
		}
	})
}

func TestStoreThatDoesNotAnswer(t *testing.T) {
	later := newJob(t, "later", "1 0 * * *")
	inWorld(t, takes(time.Second), []*job.Job{later}, func(w *world) {
		w.due = w.slotsUntil(midnight.Add(time.Minute))
		n := w.start("a")
		n.link.cut()
		pass(3 * time.Minute)
		if e := n.only(); e.Kind != event.Unknown {
			t.Errorf("got %+v; want unknown", e)
		}
		if starts := w.starts(); len(starts) != 0 {
			t.Errorf("got starts %+v; want none", starts)
		}
	})
}

func TestEventsOfARun(t *testing.T) {
	work := func(ctx context.Context, spec runner.Spec) (runner.Result, error) {
		spec.Started(4711)
		return takes(time.Second)(ctx, spec)
	}
	inWorld(t, work, daily(t), func(w *world) {
		n := w.start("a")
		pass(time.Minute)
		var got []event.Kind
		for _, e := range n.events {
			got = append(got, e.Kind)
		}
		if want := []event.Kind{event.Won, event.Started, event.Finished}; !slices.Equal(got, want) {
			t.Errorf("got %v; want %v", got, want)
		}
	})
}

func TestAttemptIsToldWhatToRun(t *testing.T) {
	var got runner.Spec
	work := func(_ context.Context, spec runner.Spec) (runner.Result, error) {
		got = spec
		return runner.Result{Outcome: pluginapi.Succeeded}, nil
	}
	jobs := daily(t)
	jobs[0].Exec.Command = []string{"dump", "orders"}
	jobs[0].Exec.Env = map[string]string{"PGUSER": "backup"}
	jobs[0].Timeout = time.Hour
	inWorld(t, work, jobs, func(w *world) {
		w.start("a", func(o *instance.Options) { o.WorkDir = "/var/lib/anarchon" })
		pass(time.Minute)
	})
	if got.Run.String() != "daily@20000101T000000Z" || got.Attempt != 1 || got.Instance != "a" {
		t.Errorf("got run %s, attempt %d on %q; want daily@20000101T000000Z, 1 on a", got.Run, got.Attempt, got.Instance)
	}
	if !slices.Equal(got.Command, jobs[0].Exec.Command) || got.Env["PGUSER"] != "backup" || got.Dir != "/var/lib/anarchon" {
		t.Errorf("got command %q, env %v in %q; want the job's, in the data directory", got.Command, got.Env, got.Dir)
	}
	if got.Timeout != time.Hour || got.KillAfter != jobs[0].KillAfter {
		t.Errorf("got timeout %s, kill after %s; want the job's", got.Timeout, got.KillAfter)
	}
}
