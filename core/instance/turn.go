package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/core/timing"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// How long the end of an attempt is told to a store that doesn't answer. Heartbeats go on while
// an outcome is: if it isn't written in the end, the work is done a second time. A run that
// couldn't be given up only waits a little longer, for the end of its lease.
const (
	finishTimeout  = time.Minute
	releaseTimeout = 5 * time.Second
)

// turn is one time that this instance asks for a run, and runs it when it wins.
type turn struct {
	*Instance
	job      *job.Job
	run      job.Run
	takeover bool
}

// due gets the slots that are due now; the engine waits for it.
func (i *Instance) due(batch []timing.Due) {
	for _, d := range batch {
		i.begin(turn{Instance: i, job: d.Job, run: job.Run{Job: d.Job.Name, Slot: d.Slot}})
	}
}

// expired gets a run whose lease has ended.
func (i *Instance) expired(j *job.Job, slot job.Slot) {
	i.begin(turn{Instance: i, job: j, run: job.Run{Job: j.Name, Slot: slot}, takeover: true})
}

func (i *Instance) begin(t turn) {
	i.turns.Add(1)
	i.asking.add(t.ask)
}

// skipped gets slots that this instance woke up too late for.
func (i *Instance) skipped(s timing.Skipped) {
	reason := "this instance was asleep, or too busy, until max_late after the slot"
	if s.More {
		reason += fmt.Sprintf("; more than %d slots since %s", s.Count, s.First.Time().Format(time.RFC3339))
	}
	t := turn{Instance: i, job: s.Job, run: job.Run{Job: s.Job.Name, Slot: s.Last}}
	t.publish(event.Event{Kind: event.Late, Count: s.Count, Reason: reason})
}

// ask claims the run. It holds one of the places in the asking queue; the attempt itself,
// which may take hours, goes on without it.
func (t turn) ask() {
	if !t.enter() {
		t.turns.Done()
		return
	}
	var answer claim.Answer
	if t.takeover {
		answer = t.claims.Takeover(t.ctx, t.job, t.run.Slot)
	} else {
		answer = t.claims.Acquire(t.ctx, t.job, t.run.Slot)
	}
	if answer.Kind == event.Won {
		go t.attempt(answer.Hold)
		return
	}
	t.leave()
	// A takeover that didn't come about is no turn: the scan finds the run again.
	if !t.takeover || answer.Kind == event.Refused || answer.Kind == event.Released {
		t.publish(event.Event{Kind: answer.Kind, Attempt: answer.Attempt, Holder: answer.Holder, Reason: answer.Reason})
	}
	t.turns.Done()
}

// enter waits for a place among the running attempts: a full instance doesn't claim, so that
// another can. It returns false, and has said why, when the slot is late by then.
func (t turn) enter() bool {
	if t.running == nil {
		return true
	}
	select {
	case t.running <- struct{}{}:
		return true
	default:
	}
	if t.takeover {
		return false // the scan finds the run again
	}
	return t.waitForPlace()
}

// waitForPlace waits until a place is free or the slot is late.
func (t turn) waitForPlace() bool {
	limit := t.run.Slot.Time().Add(t.job.MaxLate)
	for left := limit.Sub(t.o.Now()); left > 0; left = limit.Sub(t.o.Now()) {
		look := time.NewTimer(min(left, time.Minute)) // the clock may be set meanwhile
		select {
		case t.running <- struct{}{}:
			look.Stop()
			return true
		case <-t.ctx.Done():
			look.Stop()
			t.publish(event.Event{Kind: event.Stopped, Reason: "the instance was stopped while it waited for a place to run in"})
			return false
		case <-look.C:
		}
	}
	t.publish(event.Event{Kind: event.Late, Reason: fmt.Sprintf(
		"max_running = %d attempts were running here until max_late after the slot", cap(t.running))})
	return false
}

func (t turn) leave() {
	if t.running != nil {
		<-t.running
	}
}

// attempt runs the job's command and tells the store how it ended.
func (t turn) attempt(hold *claim.Hold) {
	defer t.turns.Done()
	defer t.leave()
	t.publish(event.Event{Kind: event.Won, Attempt: hold.Attempt()})
	ctx, stop := context.WithCancelCause(hold.Context())
	defer stop(nil)
	defer context.AfterFunc(t.halted, func() { stop(context.Cause(t.halted)) })()

	started := t.o.Now()
	result, err := t.o.Attempt(ctx, t.spec(hold), t.lease(hold))
	took := t.o.Now().Sub(started)
	if err != nil { // the shim couldn't be started: nothing ran
		result = runner.Result{Outcome: pluginapi.Failed, Detail: "not started: " + err.Error()}
	}
	final := event.Event{Attempt: hold.Attempt(), Took: took, Reason: result.Detail}
	if result.Outcome == pluginapi.Interrupted && t.o.Kind == pluginapi.Lease {
		t.giveUp(hold, &final)
	} else {
		t.finish(hold, result, &final)
	}
	t.publish(final)
}

// finish writes the outcome.
func (t turn) finish(hold *claim.Hold, result runner.Result, final *event.Event) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), finishTimeout)
	defer cancel()
	err := hold.Finish(ctx, result.Outcome, result.ExitCode, result.Detail)
	switch {
	case err == nil:
		final.Kind = event.Finished
		final.Outcome, final.ExitCode = result.Outcome.String(), result.ExitCode
	case errors.Is(err, claim.ErrLost):
		final.Kind, final.Reason = event.Lost, err.Error()
	default:
		final.Kind = event.Unknown
		final.Reason = fmt.Sprintf("the outcome (%s) couldn't be written; the run is left to the end of its lease: %s", result.Outcome, err)
	}
}

// giveUp hands a run on whose work was stopped before its end: by a drain, or because the lease
// was about to end. Only the store ends a run as interrupted, when no attempt is left.
func (t turn) giveUp(hold *claim.Hold, final *event.Event) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), releaseTimeout)
	defer cancel()
	final.Kind = event.Released
	switch err := hold.Release(ctx); {
	case errors.Is(err, claim.ErrLost):
		final.Kind, final.Reason = event.Lost, err.Error()
	case err != nil:
		final.Reason = "given up, but the store wasn't told; the run waits for the end of its lease: " + err.Error()
	}
}

func (t turn) publish(e event.Event) {
	e.Time = t.o.Now()
	e.Run = t.run
	e.Takeover = t.takeover
	e.Delay = e.Time.Sub(t.run.Slot.Time())
	if e.Kind == event.Won || e.Kind == event.Started {
		e.Holder = t.o.Name
	}
	t.o.Events.Publish(e)
}

func (t turn) spec(hold *claim.Hold) runner.Spec {
	dir := t.job.Exec.Dir
	if dir == "" {
		dir = t.o.WorkDir
	}
	return runner.Spec{
		Command: t.job.Exec.Command, Dir: dir, Env: t.job.Exec.Env,
		Run: t.run, Attempt: hold.Attempt(), Instance: t.o.Name,
		Timeout: t.job.Timeout, KillAfter: t.job.KillAfter,
		Started: func(int) { t.publish(event.Event{Kind: event.Started, Attempt: hold.Attempt()}) },
	}
}

// lease is what bounds the attempt: nothing, where the hold sets no end.
func (t turn) lease(hold *claim.Hold) runner.Lease {
	if hold.Deadline() == 0 {
		return nil
	}
	return hold
}
