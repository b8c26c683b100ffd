package memstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Heartbeat extends leases, or gives them up.
func (s *Store) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	if err := s.begin(ctx, "heartbeat", len(heartbeats)); err != nil {
		return nil, err
	}
	defer s.end()
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	now := s.data.options.Now()
	results := make([]pluginapi.HeartbeatResult, len(heartbeats))
	for i, h := range heartbeats {
		results[i] = s.data.heartbeat(h, now)
	}
	return results, nil
}

func (d *data) heartbeat(h pluginapi.Heartbeat, now time.Time) pluginapi.HeartbeatResult {
	if err := h.Check(); err != nil {
		return pluginapi.HeartbeatResult{Err: err}
	}
	r := d.find(h.Job, h.Slot)
	if r == nil || r.outcome != 0 || r.token != h.Token {
		return pluginapi.HeartbeatResult{Verdict: pluginapi.Lost}
	}
	r.until = now.Add(h.Lease)
	r.holder().Released = h.Lease == 0
	if h.Lease == 0 {
		// A lease is live while lease_until >= now, so one that ends at once ends before now.
		r.until = now.Add(-time.Millisecond)
	}
	return pluginapi.HeartbeatResult{Verdict: pluginapi.Won, LeaseLeft: r.until.Sub(now)}
}

// Finish ends runs.
func (s *Store) Finish(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	if err := s.begin(ctx, "finish", len(finishes)); err != nil {
		return nil, err
	}
	defer s.end()
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	now := s.data.options.Now()
	results := make([]pluginapi.FinishResult, len(finishes))
	for i, f := range finishes {
		results[i] = s.data.finish(f, now)
	}
	return results, nil
}

func (d *data) finish(f pluginapi.Finish, now time.Time) pluginapi.FinishResult {
	if err := f.Check(); err != nil {
		return pluginapi.FinishResult{Err: err}
	}
	r := d.find(f.Job, f.Slot)
	switch {
	case r == nil || r.token != f.Token:
		return pluginapi.FinishResult{Verdict: pluginapi.Lost}
	case r.outcome == 0:
		detail := f.Detail[:min(len(f.Detail), pluginapi.MaxDetail)]
		r.exitCode, r.detail = f.ExitCode, strings.ToValidUTF8(detail, "") // the cut may halve a letter
		d.end(d.jobs[f.Job], f.Slot, f.Outcome, now)
		return pluginapi.FinishResult{Verdict: pluginapi.Done}
	case r.outcome == f.Outcome: // sent again: the saved result, and the first one's details stay
		return pluginapi.FinishResult{Verdict: pluginapi.Done}
	default:
		return pluginapi.FinishResult{Err: pluginapi.Errorf(pluginapi.Conflict, "finish",
			"the run has already ended as %s under this token, so it can't end as %s", r.outcome, f.Outcome)}
	}
}

// find returns the run, or nil when the store doesn't know it.
func (d *data) find(job string, slot pluginapi.Slot) *run {
	if j := d.jobs[job]; j != nil {
		return j.runs[slot]
	}
	return nil
}

// end writes the outcome of a running run, and forgets what is too old for the history.
func (d *data) end(j *jobRuns, slot pluginapi.Slot, outcome pluginapi.Outcome, now time.Time) {
	r := j.runs[slot]
	r.outcome, r.finished = outcome, now
	delete(j.running, slot)
	if len(j.runs)-len(j.running) <= d.options.History {
		return
	}
	oldest := slot
	for s, r := range j.runs {
		if r.outcome != 0 && s < oldest {
			oldest = s
		}
	}
	delete(j.runs, oldest)
	j.floor = max(j.floor, oldest) // else the forgotten slot could be claimed again
}

// Expired lists running runs whose lease has ended.
func (s *Store) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	if err := s.begin(ctx, "expired", 0); err != nil {
		return nil, err
	}
	defer s.end()
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	now := s.data.options.Now()
	var refs []pluginapi.RunRef
	for name, j := range s.data.jobs {
		if len(query.Jobs) > 0 && !slices.Contains(query.Jobs, name) {
			continue
		}
		for slot, r := range j.running {
			ref := pluginapi.RunRef{Job: name, Slot: slot, Attempt: r.holder().Number}
			if !r.live(now) && compareRefs(ref, query.After) > 0 {
				refs = append(refs, ref)
			}
		}
	}
	slices.SortFunc(refs, compareRefs)
	limit := query.Limit
	if limit <= 0 {
		limit = 1000
	}
	return refs[:min(limit, len(refs))], nil
}

// compareRefs orders runs by job, then slot.
func compareRefs(a, b pluginapi.RunRef) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Slot, b.Slot))
}
