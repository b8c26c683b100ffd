package storeplugin

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin/internal/guard"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Claim asks for one run. It waits while the plugin isn't up. Errors are *pluginapi.Error;
// Ambiguous tells that the claim may have been executed: send it again with its token.
func (s *Store) Claim(ctx context.Context, claim pluginapi.Claim) (pluginapi.ClaimResult, error) {
	if err := s.wait(ctx, "claim"); err != nil {
		return pluginapi.ClaimResult{}, err
	}
	result, err := s.claims.Do(ctx, claim)
	switch {
	case err != nil:
		return pluginapi.ClaimResult{}, err
	case result.Err != nil:
		return pluginapi.ClaimResult{}, result.Err
	}
	if err := s.guard.Claim(claim, result); err != nil {
		return pluginapi.ClaimResult{}, s.violated("claim", err)
	}
	return result, nil
}

// Heartbeat extends, or gives up, the lease of one run; see [Store.Claim] for its errors.
func (s *Store) Heartbeat(ctx context.Context, heartbeat pluginapi.Heartbeat) (pluginapi.HeartbeatResult, error) {
	if err := s.wait(ctx, "heartbeat"); err != nil {
		return pluginapi.HeartbeatResult{}, err
	}
	result, err := s.heartbeats.Do(ctx, heartbeat)
	switch {
	case err != nil:
		return pluginapi.HeartbeatResult{}, err
	case result.Err != nil:
		return pluginapi.HeartbeatResult{}, result.Err
	}
	if err := guard.Heartbeat(result); err != nil {
		return pluginapi.HeartbeatResult{}, s.violated("heartbeat", err)
	}
	return result, nil
}

// Finish ends one run; see [Store.Claim] for its errors.
func (s *Store) Finish(ctx context.Context, finish pluginapi.Finish) (pluginapi.FinishResult, error) {
	if err := s.wait(ctx, "finish"); err != nil {
		return pluginapi.FinishResult{}, err
	}
	result, err := s.finishes.Do(ctx, finish)
	switch {
	case err != nil:
		return pluginapi.FinishResult{}, err
	case result.Err != nil:
		return pluginapi.FinishResult{}, result.Err
	}
	if err := guard.Finish(result); err != nil {
		return pluginapi.FinishResult{}, s.violated("finish", err)
	}
	return result, nil
}

// Expired lists a page of the runs whose lease has ended.
func (s *Store) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	if err := s.wait(ctx, "expired"); err != nil {
		return nil, err
	}
	store, err := s.leases("expired")
	if err != nil {
		return nil, err
	}
	return store.Expired(ctx, query)
}

// Runs reads a page of the history.
func (s *Store) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	if err := s.wait(ctx, "runs"); err != nil {
		return pluginapi.RunsPage{}, err
	}
	store, err := s.up("runs")
	if err != nil {
		return pluginapi.RunsPage{}, err
	}
	return store.Runs(ctx, query)
}

// Health asks the backend whether it is there.
func (s *Store) Health(ctx context.Context) (pluginapi.Health, error) {
	if err := s.wait(ctx, "health"); err != nil {
		return pluginapi.Health{}, err
	}
	store, err := s.up("health")
	if err != nil {
		return pluginapi.Health{}, err
	}
	return store.Health(ctx)
}

// The batches' way to the plugin. One that finds it gone wasn't sent, and says so.

func (s *Store) sendClaims(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	store, err := s.up("claim")
	if err != nil {
		return nil, err
	}
	return store.Claim(ctx, claims)
}

func (s *Store) sendHeartbeats(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	store, err := s.leases("heartbeat")
	if err != nil {
		return nil, err
	}
	return store.Heartbeat(ctx, heartbeats)
}

func (s *Store) sendFinishes(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	store, err := s.leases("finish")
	if err != nil {
		return nil, err
	}
	return store.Finish(ctx, finishes)
}

// wait returns when the plugin is up. It returns an Unavailable error when that isn't so in
// time, or can't be without somebody's help.
func (s *Store) wait(ctx context.Context, op string) error {
	for {
		s.mu.Lock()
		status, changed := s.status, s.changed
		s.mu.Unlock()
		switch {
		case status.State.Up():
			return nil
		case status.State == Quarantined, status.State == Closed:
			return notUp(op, status)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return notUp(op, status)
		}
	}
}

// up returns the store if the plugin is up.
func (s *Store) up(op string) (pluginapi.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backend == nil {
		return nil, notUp(op, s.status)
	}
	return s.backend, nil
}

// leases is up for what only lease stores can do.
func (s *Store) leases(op string) (pluginapi.LeaseStore, error) {
	store, err := s.up(op)
	if err != nil {
		return nil, err
	}
	leases, ok := store.(pluginapi.LeaseStore)
	if !ok {
		return nil, pluginapi.Errorf(pluginapi.Unsupported, op, "the store is a gate store: it keeps no leases")
	}
	return leases, nil
}

func notUp(op string, status Status) error {
	if status.Reason == "" {
		return pluginapi.Errorf(pluginapi.Unavailable, op, "the store's plugin is %s", status.State)
	}
	return pluginapi.Errorf(pluginapi.Unavailable, op, "the store's plugin is %s: %s", status.State, status.Reason)
}

// violated stops the plugin for an answer that can't be, and returns the call's error.
func (s *Store) violated(op string, err error) error {
	select {
	case s.violations <- err.Error():
	default: // one is enough
	}
	return pluginapi.Errorf(pluginapi.Internal, op, "the store broke its contract: %w", err)
}
