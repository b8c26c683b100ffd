package broken

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// store is one client of a broken store.
type store struct {
	pluginapi.LeaseStore
	world *World
	fault Fault
	skew  time.Duration
}

// wait holds on for a while when the fault is not to heed that the caller has given up.
func (s *store) wait(ctx context.Context) context.Context {
	if s.fault != IgnoresContexts || ctx.Err() == nil {
		return ctx
	}
	<-time.After(150 * time.Millisecond)
	return context.WithoutCancel(ctx)
}

// lock orders the calls, so that the world's clock is the caller's while the call lasts.
func (s *store) lock() (unlock func()) {
	s.world.mu.Lock()
	if s.fault == ClientClock {
		s.world.skew = s.skew
	}
	return s.world.mu.Unlock
}

func (s *store) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	ctx = s.wait(ctx)
	s.world.claiming.Add(1)
	defer s.world.claiming.Add(-1)
	runtime.Gosched() // whoever comes at the same time has now come
	defer s.lock()()
	asked := slices.Clone(claims)
	for i := range asked {
		if s.fault == OverlappingTakeover && s.world.runs[run{asked[i].Job, asked[i].Slot}] != nil {
			asked[i].Overlap = pluginapi.OverlapAllow
		}
	}
	results, err := s.LeaseStore.Claim(ctx, asked)
	for i := range results {
		late := results[i].StoreTime.Sub(claims[i].Slot.Time())
		if s.fault == LateForAll && results[i].Err == nil && late > claims[i].MaxLate+pluginapi.ClockSlack {
			results[i] = pluginapi.ClaimResult{Verdict: pluginapi.Late, StoreTime: results[i].StoreTime}
		}
		s.world.wrong(s.fault, claims[i], &results[i])
	}
	if s.fault == OtherOrder {
		slices.Reverse(results)
	}
	return results, err
}

// holder returns the token that the store takes for the caller's.
func (s *store) holder(job string, slot pluginapi.Slot, token pluginapi.Token) pluginapi.Token {
	r := s.world.runs[run{job, slot}]
	if s.fault == FencesNobody && r != nil && len(r.winners) > 0 && token != "" {
		return r.winners[len(r.winners)-1]
	}
	return token
}

func (s *store) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	ctx = s.wait(ctx)
	defer s.lock()()
	asked := slices.Clone(heartbeats)
	for i, h := range asked {
		asked[i].Token = s.holder(h.Job, h.Slot, h.Token)
	}
	return s.LeaseStore.Heartbeat(ctx, asked)
}

func (s *store) Finish(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	ctx = s.wait(ctx)
	defer s.lock()()
	asked := slices.Clone(finishes)
	for i, f := range asked {
		asked[i].Token = s.holder(f.Job, f.Slot, f.Token)
	}
	results, err := s.LeaseStore.Finish(ctx, asked)
	for i, result := range results {
		if result.Verdict == pluginapi.Done {
			s.world.ends[asked[i].Job]++
			r := s.world.record(asked[i].Job, asked[i].Slot)
			r.outcome, r.end = asked[i].Outcome, s.world.ends[asked[i].Job]
		}
		if s.fault == LastOutcomeWins && result.Err != nil && result.Err.Code == pluginapi.Conflict {
			results[i] = pluginapi.FinishResult{Verdict: pluginapi.Done}
		}
	}
	return results, err
}

func (s *store) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	ctx = s.wait(ctx)
	defer s.lock()()
	return s.LeaseStore.Expired(ctx, query)
}

func (s *store) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	ctx = s.wait(ctx)
	defer s.lock()()
	return s.LeaseStore.Runs(ctx, query)
}

func (s *store) Health(ctx context.Context) (pluginapi.Health, error) {
	ctx = s.wait(ctx)
	defer s.lock()()
	return s.LeaseStore.Health(ctx)
}
