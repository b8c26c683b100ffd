package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Acquire asks for the run of a slot that is due, until there is an answer or the slot is
// late on this instance's clock. It blocks for that long: at most the job's MaxLate after the
// slot, and one try more.
//
// When ctx ends before a claim was sent, the answer is Stopped. One that was sent is followed
// up for two tries more; a run that is won then is given up, and the answer is Released. On a
// gate store, which can't take a run back, it is Won all the same.
func (c *Claimer) Acquire(ctx context.Context, j *job.Job, slot job.Slot) Answer {
	limit := slot.Time().Add(j.MaxLate)
	return c.acquire(ctx, j, slot, func() time.Duration { return limit.Sub(c.now()) })
}

// Takeover asks for a run whose lease has ended, as [Claimer.Watch] found it. There is no
// late check: the run's slot was claimed in time. It blocks until there is an answer, for at
// most one lease of the job. An Overlap changed nothing: a later scan of Watch finds the run
// again. A run without an attempt left is ended by the store as interrupted, and the answer
// is Taken.
func (c *Claimer) Takeover(ctx context.Context, j *job.Job, slot job.Slot) Answer {
	limit := c.boot() + j.Lease
	return c.acquire(ctx, j, slot, func() time.Duration { return limit - c.boot() })
}

func (c *Claimer) acquire(ctx context.Context, j *job.Job, slot job.Slot, left func() time.Duration) Answer {
	run := job.Run{Job: j.Name, Slot: slot}
	if !c.begin(run) {
		return Answer{Kind: event.Taken, Holder: c.instance, Reason: "this instance already asks for the run, or holds it"}
	}
	q := question{Claimer: c, job: j, run: run, left: left, claim: pluginapi.Claim{
		Job:         j.Name,
		Slot:        pluginapi.Slot(slot),
		Token:       pluginapi.NewToken(),
		Instance:    c.instance,
		Lease:       j.Lease,
		MaxLate:     j.MaxLate,
		MaxAttempts: j.MaxAttempts,
	}}
	if j.Overlap == job.Allow {
		q.claim.Overlap = pluginapi.OverlapAllow
	}
	answer := q.ask(ctx)
	if answer.Hold == nil {
		c.end(run)
	}
	return answer
}

// errEarly is why there is no answer while the store's clock hasn't come to the slot.
var errEarly = errors.New("the slot is early on the store's clock")

// question is one claim, from its first send to its answer.
type question struct {
	*Claimer
	job   *job.Job
	run   job.Run
	claim pluginapi.Claim      // the same in every send, its token above all
	left  func() time.Duration // how long it may still be asked; negative: no longer
	owed  bool                 // a send may have been executed, and its answer is unknown
}

// ask sends the claim until there is an answer.
func (q *question) ask(ctx context.Context) Answer {
	var retry backoff
	var last error // why there is no answer yet
	for asked := false; ; asked = true {
		stopped := ctx.Err() != nil
		left := q.left()
		switch {
		case stopped && !q.owed:
			return Answer{Kind: event.Stopped, Reason: "the instance was stopped before the store answered"}
		case left < 0 && !asked:
			return Answer{Kind: event.Late, Reason: fmt.Sprintf(
				"the slot came up on this instance %s after its time; max_late is %s", q.job.MaxLate-left, q.job.MaxLate)}
		case left < 0:
			return q.unanswered(last)
		}
		answer, early, err := q.try(ctx, min(tryTimeout, max(left, time.Millisecond)))
		switch {
		case early > 0 && !stopped:
			last = fmt.Errorf("%w by %s: this instance's clock is fast", errEarly, early)
			pause(ctx, min(early, time.Minute, left+time.Millisecond))
		case err == nil && early == 0:
			return answer
		case err != nil && !retryable(err):
			return Answer{Kind: event.Refused, Reason: err.Error()}
		case stopped:
			return Answer{Kind: event.Stopped, Reason: "the instance was stopped before the store answered; the claim may have been executed"}
		default:
			q.owed = q.owed || pluginapi.CodeOf(err) == pluginapi.Ambiguous
			last = err
			pause(ctx, retry.next())
		}
	}
}

// unanswered is the end of a question that can't be asked any longer.
func (q *question) unanswered(last error) Answer {
	if !q.owed && errors.Is(last, errEarly) {
		return Answer{Kind: event.Late, Reason: last.Error()}
	}
	if q.owed {
		return Answer{Kind: event.Unknown, Reason: "no answer in time; the claim may have been executed: " + last.Error()}
	}
	return Answer{Kind: event.Unknown, Reason: "no answer in time; nothing was executed for this instance: " + last.Error()}
}

// try sends the claim once. It returns the answer; or, when the slot is early on the store's
// clock, for how long; or why there is no answer. It doesn't end with ctx, since a claim that
// is under way may win.
func (q *question) try(ctx context.Context, timeout time.Duration) (answer Answer, early time.Duration, err error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	sent := q.boot()
	result, err := q.store.Claim(call, q.claim)
	if err != nil {
		return Answer{}, 0, err
	}
	answer = Answer{Attempt: result.Attempt, Holder: result.Holder}
	switch result.Verdict {
	case pluginapi.Won:
		answer, err = q.won(ctx, sent, result)
		return answer, 0, err
	case pluginapi.Lost, pluginapi.Running, pluginapi.Done:
		answer.Kind = event.Taken
	case pluginapi.Overlapping:
		answer.Kind = event.Overlap
		answer.Reason = "another run of the job is live"
	case pluginapi.Late:
		answer.Kind = event.Late
		answer.Reason = "the claim reached the store too late, or the store has passed the slot over"
	case pluginapi.Early:
		return Answer{}, max(result.Wait, 100*time.Millisecond), nil
	default:
		return Answer{}, 0, pluginapi.Errorf(pluginapi.Internal, "claim", "the store answered with verdict %d", result.Verdict)
	}
	return answer, 0, nil
}

// won turns a won claim into a hold. It returns an error when the lease has run down and
// couldn't be extended: asking again finds out whose the run is.
func (q *question) won(ctx context.Context, sent time.Duration, result pluginapi.ClaimResult) (Answer, error) {
	h := newHold(ctx, q, result.Attempt)
	answer := Answer{Kind: event.Won, Hold: h, Attempt: h.Attempt(), Holder: q.instance}
	if q.kind == pluginapi.Gate {
		close(h.done) // nothing to keep
		return answer, nil
	}
	h.extend(sent, result.LeaseLeft)
	if ctx.Err() == nil && !h.startable() {
		verdict, err := h.beat(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			return Answer{}, err
		case verdict == pluginapi.Lost:
			return Answer{Kind: event.Taken, Reason: "the run was taken over before the answer to its claim was known"}, nil
		case !h.startable():
			return Answer{}, pluginapi.Errorf(pluginapi.Ambiguous, "claim",
				"the store's answers take longer than a lease of %s allows; raise lease", q.job.Lease)
		}
	}
	go h.keep()
	if ctx.Err() != nil {
		return q.giveUp(ctx, h), nil //nolint:nilerr // the end of ctx is no failure of the claim
	}
	return answer, nil
}

// giveUp releases a run that was won after the instance was told to stop.
func (q *question) giveUp(ctx context.Context, h *Hold) Answer {
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryTimeout)
	defer cancel()
	answer := Answer{Kind: event.Released, Attempt: h.attempt, Holder: q.instance, Reason: "the instance was stopped while it asked"}
	if err := h.Release(release); err != nil {
		answer.Reason += "; the run waits for the end of its lease: " + err.Error()
	}
	return answer
}
