package sqlite

import (
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// row is what the file holds on a claim's run, and on its job.
type row struct {
	found    bool
	outcome  pluginapi.Outcome // 0: running
	token    pluginapi.Token   // "" when interrupted: nobody's any more
	attempt  int
	released int // of the attempts, those that don't count
	instance string
	leaseEnd time.Duration // on the boot clock

	floor pluginapi.Slot // the newest slot of the job that was forgotten
	busy  bool           // a run of the job is live
}

// step is what a decision writes.
type step int

const (
	nothing step = iota
	insertFirst
	takeOver
	interrupt
)

// decide is the table of semantics §3.1: what the claim is answered, and what must be written
// before that. Each case quotes its row.
func (r row) decide(c pluginapi.Claim, now instant) (pluginapi.ClaimResult, step) {
	if !r.found {
		return r.decideNew(c, now)
	}
	result := pluginapi.ClaimResult{Attempt: r.attempt, Holder: r.instance, StoreTime: now.wall}
	left := r.leaseEnd - now.boot
	switch {
	case r.outcome != 0: // not running any more: done
		result.Verdict = pluginapi.Done
	case r.token == c.Token: // the same token, still running: won, the stored attempt
		result.Verdict, result.LeaseLeft = pluginapi.Won, left
	case left >= 0: // running, lease_until >= now: running
		result.Verdict, result.LeaseLeft = pluginapi.Running, left
	case r.attempt-r.released >= c.MaxAttempts: // lease_until < now, no attempt left: mark interrupted
		result.Verdict = pluginapi.Done
		return result, interrupt
	case c.Overlap == pluginapi.OverlapSkip && r.busy: // another run is live; this one isn't: overlap
		return pluginapi.ClaimResult{Verdict: pluginapi.Overlapping, StoreTime: now.wall}, nothing
	default: // lease_until < now, attempts left: attempt + 1, the caller's token, a new lease
		return won(c, r.attempt+1, now), takeOver
	}
	return result, nothing
}

// decideNew is the part of the table about slots of which the file knows nothing.
func (r row) decideNew(c pluginapi.Claim, now instant) (pluginapi.ClaimResult, step) {
	result := pluginapi.ClaimResult{StoreTime: now.wall}
	late, early := now.wall.Sub(c.Slot.Time()), c.Slot.Time().Sub(now.wall)
	switch {
	case late-pluginapi.ClockSlack > c.MaxLate: // now - slot > max_late + 10 s: late
		result.Verdict = pluginapi.Late
	case c.Slot <= r.floor: // it may have been claimed and forgotten
		result.Verdict = pluginapi.Late
	case early > pluginapi.ClockSlack: // slot - now > 10 s: early
		result.Verdict, result.Wait = pluginapi.Early, early-pluginapi.ClockSlack
	case c.Overlap == pluginapi.OverlapSkip && r.busy: // another run is live: overlap
		result.Verdict = pluginapi.Overlapping
	default: // write attempt 1, token, lease_until = now + lease
		return won(c, 1, now), insertFirst
	}
	return result, nothing
}

func won(c pluginapi.Claim, attempt int, now instant) pluginapi.ClaimResult {
	return pluginapi.ClaimResult{
		Verdict: pluginapi.Won, Attempt: attempt, LeaseLeft: c.Lease, Holder: c.Instance, StoreTime: now.wall,
	}
}

// sound tells whether the row is one that this plugin writes. The schema's checks refuse
// others, but a client that isn't ours can switch them off.
func (r row) sound() bool {
	return (r.outcome == 0 || r.outcome.String() != "") &&
		r.attempt >= 1 && r.released >= 0 && r.released <= r.attempt &&
		(r.token != "" || r.outcome == pluginapi.Interrupted)
}
