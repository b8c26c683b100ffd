package instance_test

import (
	"context"
	"slices"
	"sync"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// link is an instance's way to the store, one item at a time. It can be cut.
type link struct {
	lease *memstore.Store
	gate  *memstore.Gate
	kind  pluginapi.Kind

	mu   sync.Mutex // guards what follows
	lost func(op string) bool
}

// cut has no call of these operations arrive; without any, no call at all.
func (l *link) cut(ops ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = func(op string) bool { return len(ops) == 0 || slices.Contains(ops, op) }
}

// heal has all calls arrive again.
func (l *link) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = nil
}

// arrives returns an error, once ctx has ended, if a call of op is lost.
func (l *link) arrives(ctx context.Context, op string) error {
	l.mu.Lock()
	lost := l.lost != nil && l.lost(op)
	l.mu.Unlock()
	if !lost {
		return nil
	}
	<-ctx.Done()
	return pluginapi.Errorf(pluginapi.Ambiguous, op, "no answer")
}

func (l *link) Claim(ctx context.Context, c pluginapi.Claim) (pluginapi.ClaimResult, error) {
	if err := l.arrives(ctx, "claim"); err != nil {
		return pluginapi.ClaimResult{}, err
	}
	ask := l.lease.Claim
	if l.kind == pluginapi.Gate {
		ask = l.gate.Claim
	}
	results, err := ask(ctx, []pluginapi.Claim{c})
	if err != nil {
		return pluginapi.ClaimResult{}, err
	}
	return results[0], asError(results[0].Err)
}

func (l *link) Heartbeat(ctx context.Context, h pluginapi.Heartbeat) (pluginapi.HeartbeatResult, error) {
	if err := l.arrives(ctx, "heartbeat"); err != nil {
		return pluginapi.HeartbeatResult{}, err
	}
	results, err := l.lease.Heartbeat(ctx, []pluginapi.Heartbeat{h})
	if err != nil {
		return pluginapi.HeartbeatResult{}, err
	}
	return results[0], asError(results[0].Err)
}

func (l *link) Finish(ctx context.Context, f pluginapi.Finish) (pluginapi.FinishResult, error) {
	if err := l.arrives(ctx, "finish"); err != nil {
		return pluginapi.FinishResult{}, err
	}
	results, err := l.lease.Finish(ctx, []pluginapi.Finish{f})
	if err != nil {
		return pluginapi.FinishResult{}, err
	}
	return results[0], asError(results[0].Err)
}

func (l *link) Expired(ctx context.Context, q pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	if err := l.arrives(ctx, "expired"); err != nil {
		return nil, err
	}
	return l.lease.Expired(ctx, q)
}

// asError keeps a nil item error from becoming an error that isn't nil.
func asError(err *pluginapi.Error) error {
	if err == nil {
		return nil
	}
	return err
}
