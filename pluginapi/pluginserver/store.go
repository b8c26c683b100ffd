package pluginserver

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/fault"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// storeServer serves the service Store.
type storeServer struct {
	pluginpb.UnimplementedStoreServer
	*service
}

func (s *storeServer) Claim(ctx context.Context, request *pluginpb.ClaimRequest) (*pluginpb.ClaimResponse, error) {
	fault.Point("claim.on_receive")
	if err := s.use("claim", request.GetStoreId()); err != nil {
		return nil, err
	}
	results, err := batch(ctx, "claim", wire.FromClaims(request.GetClaims()), pluginapi.Claim.Check, s.store.Claim,
		func(e *pluginapi.Error) pluginapi.ClaimResult { return pluginapi.ClaimResult{Err: e} })
	if err != nil {
		return nil, err
	}
	for i := range results {
		results[i].Err = s.secrets.clean(results[i].Err)
	}
	fault.Point("claim.before_reply")
	return &pluginpb.ClaimResponse{Results: wire.ToClaimResults(results)}, nil
}

func (s *storeServer) Heartbeat(ctx context.Context, request *pluginpb.HeartbeatRequest) (*pluginpb.HeartbeatResponse, error) {
	leases, err := s.leases("heartbeat", request.GetStoreId())
	if err != nil {
		return nil, err
	}
	results, err := batch(ctx, "heartbeat", wire.FromHeartbeats(request.GetHeartbeats()), pluginapi.Heartbeat.Check, leases.Heartbeat,
		func(e *pluginapi.Error) pluginapi.HeartbeatResult { return pluginapi.HeartbeatResult{Err: e} })
	if err != nil {
		return nil, err
	}
	for i := range results {
		results[i].Err = s.secrets.clean(results[i].Err)
	}
	fault.Point("heartbeat.before_reply")
	return &pluginpb.HeartbeatResponse{Results: wire.ToHeartbeatResults(results)}, nil
}

func (s *storeServer) Finish(ctx context.Context, request *pluginpb.FinishRequest) (*pluginpb.FinishResponse, error) {
	leases, err := s.leases("finish", request.GetStoreId())
	if err != nil {
		return nil, err
	}
	results, err := batch(ctx, "finish", wire.FromFinishes(request.GetFinishes()), pluginapi.Finish.Check, leases.Finish,
		func(e *pluginapi.Error) pluginapi.FinishResult { return pluginapi.FinishResult{Err: e} })
	if err != nil {
		return nil, err
	}
	for i := range results {
		results[i].Err = s.secrets.clean(results[i].Err)
	}
	fault.Point("finish.before_reply")
	return &pluginpb.FinishResponse{Results: wire.ToFinishResults(results)}, nil
}

func (s *storeServer) Expired(ctx context.Context, request *pluginpb.ExpiredRequest) (*pluginpb.ExpiredResponse, error) {
	leases, err := s.leases("expired", request.GetStoreId())
	if err != nil {
		return nil, err
	}
	refs, err := leases.Expired(ctx, wire.FromExpiredQuery(request))
	if err != nil {
		return nil, err
	}
	return &pluginpb.ExpiredResponse{Runs: wire.ToRefs(refs)}, nil
}

func (s *storeServer) Runs(ctx context.Context, request *pluginpb.RunsRequest) (*pluginpb.RunsResponse, error) {
	if err := s.use("runs", request.GetStoreId()); err != nil {
		return nil, err
	}
	page, err := s.store.Runs(ctx, wire.FromRunsQuery(request))
	if err != nil {
		return nil, err
	}
	return wire.ToRunsPage(page), nil
}

// leases returns the store as one that keeps leases.
func (s *service) leases(op, id string) (pluginapi.LeaseStore, error) {
	if err := s.use(op, id); err != nil {
		return nil, err
	}
	leases, ok := s.store.(pluginapi.LeaseStore)
	if !ok {
		return nil, pluginapi.Errorf(pluginapi.Unsupported, op, "plugin %s keeps no leases", s.options.Name)
	}
	return leases, nil
}

// batch hands the items that pass their check to the store, in one call, and puts its results
// and the errors of the others into the order of items.
func batch[I, R any](
	ctx context.Context, op string, items []I, check func(I) *pluginapi.Error,
	ask func(context.Context, []I) ([]R, error), failed func(*pluginapi.Error) R,
) ([]R, error) {
	results := make([]R, len(items))
	good, at := make([]I, 0, len(items)), make([]int, 0, len(items))
	for i, item := range items {
		if err := check(item); err != nil {
			results[i] = failed(err)
			continue
		}
		good, at = append(good, item), append(at, i)
	}
	if len(good) == 0 {
		return results, nil
	}
	answers, err := ask(ctx, good)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(good) {
		return nil, pluginapi.Errorf(pluginapi.Internal, op, "the store answered %d items for a batch of %d", len(answers), len(good))
	}
	for i, answer := range answers {
		results[at[i]] = answer
	}
	return results, nil
}
