package memstore

import (
	"context"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Claim decides the claims, one after the other, in one indivisible step.
func (s *Store) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	if err := s.begin(ctx, "claim", len(claims)); err != nil {
		return nil, err
	}
	defer s.end()
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	now := s.data.options.Now() // read under the lock: an earlier reading could be stale by now
	results := make([]pluginapi.ClaimResult, len(claims))
	for i, c := range claims {
		results[i] = s.data.claim(c, now)
		results[i].StoreTime = now
	}
	return results, nil
}

// claim is the table of semantics §3.1; each case quotes its row.
func (d *data) claim(c pluginapi.Claim, now time.Time) pluginapi.ClaimResult {
	if err := c.Check(); err != nil {
		return pluginapi.ClaimResult{Err: err}
	}
	j := d.jobs[c.Job]
	if j == nil {
		j = &jobRuns{runs: map[pluginapi.Slot]*run{}, running: map[pluginapi.Slot]*run{}}
	}
	r := j.runs[c.Slot]
	if r == nil {
		return d.claimNew(c, j, now)
	}
	switch {
	case r.outcome != 0: // not running any more: done
		return r.answer(pluginapi.Done, now)
	case r.token == c.Token: // the same token, still running: won, the stored attempt
		return r.answer(pluginapi.Won, now)
	case r.live(now): // running, lease_until >= now: running
		return r.answer(pluginapi.Running, now)
	case r.counted() >= c.MaxAttempts: // lease_until < now, no attempt left: mark interrupted
		r.token = "" // nobody's any more: its last holder is fenced
		d.end(j, c.Slot, pluginapi.Interrupted, now)
		return r.answer(pluginapi.Done, now)
	case c.Overlap == pluginapi.OverlapSkip && j.busy(now): // another run is live: overlap
		return pluginapi.ClaimResult{Verdict: pluginapi.Overlapping}
	default: // lease_until < now, attempts left: attempt + 1, the caller's token, a new lease
		r.give(c, now)
		return r.answer(pluginapi.Won, now)
	}
}

// claimNew is the part of the table about slots of which the store knows nothing.
func (d *data) claimNew(c pluginapi.Claim, j *jobRuns, now time.Time) pluginapi.ClaimResult {
	late, early := now.Sub(c.Slot.Time()), c.Slot.Time().Sub(now)
	switch {
	case late > c.MaxLate+pluginapi.ClockSlack: // now - slot > max_late + 10 s: late
		return pluginapi.ClaimResult{Verdict: pluginapi.Late}
	case c.Slot <= j.floor: // it may have been claimed and forgotten
		return pluginapi.ClaimResult{Verdict: pluginapi.Late}
	case early > pluginapi.ClockSlack: // slot - now > 10 s: early
		return pluginapi.ClaimResult{Verdict: pluginapi.Early, Wait: early - pluginapi.ClockSlack}
	case c.Overlap == pluginapi.OverlapSkip && j.busy(now): // another run is live: overlap
		return pluginapi.ClaimResult{Verdict: pluginapi.Overlapping}
	default: // write attempt 1, token, lease_until = now + lease
		r := &run{}
		r.give(c, now)
		j.runs[c.Slot], j.running[c.Slot] = r, r
		d.jobs[c.Job] = j
		return r.answer(pluginapi.Won, now)
	}
}

// busy tells whether any run of the job is live. The caller's own isn't: it is new, or its
// lease has ended.
func (j *jobRuns) busy(now time.Time) bool {
	for _, r := range j.running {
		if r.live(now) {
			return true
		}
	}
	return false
}

// give makes the claim's token the holder of the run.
func (r *run) give(c pluginapi.Claim, now time.Time) {
	r.token = c.Token
	r.until = now.Add(c.Lease)
	r.attempts = append(r.attempts, pluginapi.Attempt{
		Number: len(r.attempts) + 1, Instance: c.Instance, Claimed: now,
	})
}

// counted is how many attempts count against MaxAttempts: those that weren't given up.
func (r *run) counted() int {
	n := 0
	for _, a := range r.attempts {
		if !a.Released {
			n++
		}
	}
	return n
}

// answer tells the run's state with the verdict.
func (r *run) answer(v pluginapi.Verdict, now time.Time) pluginapi.ClaimResult {
	result := pluginapi.ClaimResult{Verdict: v, Attempt: r.holder().Number, Holder: r.holder().Instance}
	if v != pluginapi.Done {
		result.LeaseLeft = r.until.Sub(now)
	}
	return result
}
