// Command store-plugin is an example of a lease store: the instances of one host share a directory.
// First come the answers, then what makes each of them an indivisible and durable step.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginserver"
)

func main() { os.Exit(pluginserver.Serve(plugin)) }

var plugin = pluginserver.Options{
	Name: "file", New: func(*slog.Logger) pluginapi.Store { return &store{} },
	Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{{
		Name: "dir", Format: pluginapi.PathText, Required: true, Description: "A directory for the runs, the same for all instances.",
	}}},
}

// run is what the store keeps of a run, for ever: what it forgot could be won again.
type run struct {
	pluginapi.RunRef                   // job, slot and present attempt: 0 when nobody has claimed it
	Before, Counted  int               // attempts that count against MaxAttempts: before this one, and with it
	Token            pluginapi.Token   // the holder's; "" when the run was interrupted
	Until            time.Time         // the end of the lease
	Outcome          pluginapi.Outcome // 0 while it is running
}

// runs are all runs by key: it sorts by job, then slot, as a space is less than what a job's name may hold.
type runs map[string]run

func key(job string, slot pluginapi.Slot) string { return fmt.Sprintf("%s %019d", job, slot) }
func (r run) live(now time.Time) bool            { return r.Outcome == 0 && !r.Until.Before(now) }

func (s *store) Claim(ctx context.Context, batch []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	return decide(ctx, s, batch, func(c pluginapi.Claim, all runs, now time.Time) pluginapi.ClaimResult {
		r, due := all[key(c.Job, c.Slot)], c.Slot.Time()
		busy := func(other run) bool { return other.Job == c.Job && other.live(now) }
		a := pluginapi.ClaimResult{Err: c.Check(), StoreTime: now, Attempt: r.Attempt}
		switch {
		case a.Err != nil: // that is the answer
		case r.Attempt == 0 && now.Sub(due) > c.MaxLate+pluginapi.ClockSlack:
			a.Verdict = pluginapi.Late
		case r.Attempt == 0 && due.Sub(now) > pluginapi.ClockSlack:
			a.Verdict, a.Wait = pluginapi.Early, due.Sub(now)-pluginapi.ClockSlack
		case r.Outcome != 0:
			a.Verdict = pluginapi.Done
		case r.Token == c.Token: // the caller's own claim, sent again
			a.Verdict, a.LeaseLeft = pluginapi.Won, r.Until.Sub(now)
		case r.live(now):
			a.Verdict, a.LeaseLeft = pluginapi.Running, r.Until.Sub(now)
		case r.Counted >= c.MaxAttempts: // the last holder died
			r.Outcome, r.Token = pluginapi.Interrupted, ""
			a.Verdict, all[key(c.Job, c.Slot)] = pluginapi.Done, r
		case c.Overlap == pluginapi.OverlapSkip && slices.ContainsFunc(slices.Collect(maps.Values(all)), busy):
			a.Verdict = pluginapi.Overlapping
		default: // nobody has had it, or its holder died or gave it up: it is the caller's
			a.Verdict, a.Attempt, a.LeaseLeft = pluginapi.Won, r.Attempt+1, c.Lease
			ref := pluginapi.RunRef{Job: c.Job, Slot: c.Slot, Attempt: a.Attempt}
			all[key(c.Job, c.Slot)] = run{RunRef: ref, Before: r.Counted, Counted: r.Counted + 1, Token: c.Token, Until: now.Add(c.Lease)}
		}
		return a
	})
}

func (s *store) Heartbeat(ctx context.Context, batch []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	return decide(ctx, s, batch, func(h pluginapi.Heartbeat, all runs, now time.Time) pluginapi.HeartbeatResult {
		r := all[key(h.Job, h.Slot)]
		switch err := h.Check(); {
		case err != nil:
			return pluginapi.HeartbeatResult{Err: err}
		case r.Token != h.Token || r.Outcome != 0:
			return pluginapi.HeartbeatResult{Verdict: pluginapi.Lost}
		case h.Lease == 0: // given up: over before now, and not counted
			r.Until, r.Counted = now.Add(-1), r.Before
		default:
			r.Until = now.Add(h.Lease)
		}
		all[key(h.Job, h.Slot)] = r
		return pluginapi.HeartbeatResult{Verdict: pluginapi.Won, LeaseLeft: h.Lease}
	})
}

func (s *store) Finish(ctx context.Context, batch []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	return decide(ctx, s, batch, func(f pluginapi.Finish, all runs, _ time.Time) pluginapi.FinishResult {
		r := all[key(f.Job, f.Slot)]
		switch err := f.Check(); {
		case err != nil:
			return pluginapi.FinishResult{Err: err}
		case r.Token != f.Token:
			return pluginapi.FinishResult{Verdict: pluginapi.Lost}
		case r.Outcome != 0 && r.Outcome != f.Outcome:
			return pluginapi.FinishResult{Err: pluginapi.Errorf(pluginapi.Conflict, "finish", "it has ended as %s", r.Outcome)}
		}
		r.Outcome = f.Outcome
		all[key(f.Job, f.Slot)] = r
		return pluginapi.FinishResult{Verdict: pluginapi.Done}
	})
}

func (s *store) Expired(ctx context.Context, q pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	pages, err := decide(ctx, s, []pluginapi.ExpiredQuery{q}, func(q pluginapi.ExpiredQuery, all runs, now time.Time) (ended []pluginapi.RunRef) {
		for _, k := range slices.Sorted(maps.Keys(all)) {
			r, asked := all[k], len(q.Jobs) == 0 || slices.Contains(q.Jobs, all[k].Job)
			if asked && r.Outcome == 0 && !r.live(now) && k > key(q.After.Job, q.After.Slot) {
				ended = append(ended, r.RunRef)
			}
		}
		return ended[:min(len(ended), cmp.Or(q.Limit, 1000))]
	})
	return slices.Concat(pages...), err
}

func (s *store) Runs(context.Context, pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	return pluginapi.RunsPage{}, pluginapi.Errorf(pluginapi.Unsupported, "runs", "the file store keeps no history")
}

func (s *store) Health(ctx context.Context) (pluginapi.Health, error) {
	_, err := s.Claim(ctx, nil)
	return pluginapi.Health{StoreTime: time.Now()}, err
}

type store struct {
	Dir string       // the setting; "" when the store isn't open
	mu  sync.RWMutex // guards Dir; read-held by calls under way, so that Close waits for them
}

var info = pluginapi.Info{Kind: pluginapi.Lease, Limits: pluginapi.Limits{MaxInFlight: 1}, Guarantee: "one winner for each slot on this host while dir is kept"}

func (s *store) Validate(_ context.Context, c pluginapi.Config) (pluginapi.Info, error) {
	return info, pluginapi.DecodeSettings(c, &store{})
}

func (s *store) Configure(ctx context.Context, c pluginapi.Config) (pluginapi.Info, error) {
	s.mu.Lock()
	err := pluginapi.DecodeSettings(c, s)
	s.mu.Unlock()
	if err == nil {
		_, err = s.Health(ctx)
	}
	return info, err
}

func (s *store) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Dir = ""
	return nil
}

// decide answers a batch while nobody else can, in this process or another, and returns once
// what that changed is on the disk.
func decide[Q, A any](ctx context.Context, s *store, batch []Q, answer func(Q, runs, time.Time) A) (answers []A, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	dir, err := os.Open(s.Dir)
	if err != nil {
		return nil, pluginapi.Errorf(pluginapi.Unavailable, "open", "%w", err)
	}
	defer func() { _ = dir.Close() }() // this also unlocks, as the death of the process does
	for syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil && ctx.Err() == nil {
		<-time.After(time.Millisecond) // a lock that waits would not heed ctx
	}
	if ctx.Err() != nil {
		return nil, pluginapi.Errorf(pluginapi.Unavailable, "lock", "%w", ctx.Err())
	}
	all, path, now := runs{}, s.Dir+"/runs.json", time.Now()
	text, err := os.ReadFile(path)
	if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, pluginapi.Errorf(pluginapi.Unavailable, "read", "%w", err) // nothing was done yet
	}
	before := maps.Clone(all)
	for _, item := range batch {
		answers = append(answers, answer(item, all, now))
	}
	if maps.Equal(before, all) {
		return answers, nil
	}
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_SYNC, 0o600)
	if err == nil {
		err = errors.Join(json.NewEncoder(file).Encode(all), file.Close())
	}
	if err == nil { // who dies before this leaves the old file, who dies after it the new one
		err = errors.Join(os.Rename(path+".new", path), dir.Sync())
	}
	return answers, err // an error without a code is Ambiguous: the change may be on the disk
}
