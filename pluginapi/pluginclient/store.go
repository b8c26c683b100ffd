package pluginclient

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// storeID names the one store of a process. The protocol allows several.
const storeID = "1"

// call makes one call, with a deadline in any case. Every error is a *pluginapi.Error.
func call[Q proto.Message, A any](
	ctx context.Context, p *Plugin, op string, request Q, rpc func(context.Context, Q, ...grpc.CallOption) (A, error),
) (A, error) {
	var none A
	if size := proto.Size(request); size > handshake.MaxMessage {
		return none, pluginapi.Errorf(pluginapi.Invalid, op, "the request has %d bytes; at most %d are allowed, send fewer items at once",
			size, handshake.MaxMessage)
	}
	if !p.begin() {
		return none, pluginapi.Errorf(pluginapi.Unavailable, op, "plugin %s has been closed", p.process.path)
	}
	defer p.calls.Done()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	answer, err := rpc(ctx, request)
	if err == nil {
		return answer, nil
	}
	failed := wire.FromStatus(op, err)
	if ended := p.process.ended(); ended != "" && failed.Code == pluginapi.Ambiguous {
		failed.Msg += "; " + ended
	}
	return none, failed
}

// store speaks to the plugin's store.
type store struct{ plugin *Plugin }

var _ pluginapi.Store = (*store)(nil)

// Validate implements pluginapi.Store.
func (s *store) Validate(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	return s.plugin.Validate(ctx, config)
}

// Configure implements pluginapi.Store. It can't make this store one of another kind.
func (s *store) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	_, info, err := s.plugin.Configure(ctx, config)
	return info, err
}

// Claim implements pluginapi.Store.
func (s *store) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	request := &pluginpb.ClaimRequest{StoreId: storeID, Claims: wire.ToClaims(claims)}
	answer, err := call(ctx, s.plugin, "claim", request, s.plugin.store.Claim)
	if err != nil {
		return nil, err
	}
	return wire.FromClaimResults(len(claims), answer.GetResults())
}

// Runs implements pluginapi.Store.
func (s *store) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	answer, err := call(ctx, s.plugin, "runs", wire.ToRunsQuery(storeID, query), s.plugin.store.Runs)
	if err != nil {
		return pluginapi.RunsPage{}, err
	}
	return wire.FromRunsPage(answer), nil
}

// Health implements pluginapi.Store.
func (s *store) Health(ctx context.Context) (pluginapi.Health, error) {
	answer, err := call(ctx, s.plugin, "health", &pluginpb.HealthRequest{StoreId: storeID}, s.plugin.api.Health)
	if err != nil {
		return pluginapi.Health{}, err
	}
	return wire.FromHealth(answer), nil
}

// Close implements pluginapi.Store. The process goes on.
func (s *store) Close(ctx context.Context) error {
	_, err := call(ctx, s.plugin, "close", &pluginpb.CloseRequest{StoreId: storeID}, s.plugin.api.Close)
	return err
}

// leaseStore speaks to a store with leases.
type leaseStore struct{ store }

var _ pluginapi.LeaseStore = (*leaseStore)(nil)

// Heartbeat implements pluginapi.LeaseStore.
func (s *leaseStore) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	request := &pluginpb.HeartbeatRequest{StoreId: storeID, Heartbeats: wire.ToHeartbeats(heartbeats)}
	answer, err := call(ctx, s.plugin, "heartbeat", request, s.plugin.store.Heartbeat)
	if err != nil {
		return nil, err
	}
	return wire.FromHeartbeatResults(len(heartbeats), answer.GetResults())
}

// Finish implements pluginapi.LeaseStore.
func (s *leaseStore) Finish(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	request := &pluginpb.FinishRequest{StoreId: storeID, Finishes: wire.ToFinishes(finishes)}
	answer, err := call(ctx, s.plugin, "finish", request, s.plugin.store.Finish)
	if err != nil {
		return nil, err
	}
	return wire.FromFinishResults(len(finishes), answer.GetResults())
}

// Expired implements pluginapi.LeaseStore.
func (s *leaseStore) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	answer, err := call(ctx, s.plugin, "expired", wire.ToExpiredQuery(storeID, query), s.plugin.store.Expired)
	if err != nil {
		return nil, err
	}
	return wire.FromRefs(answer.GetRuns())
}
