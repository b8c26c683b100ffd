package pluginserver

import (
	"context"
	"log/slog"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// pluginServer serves the service Plugin.
type pluginServer struct {
	pluginpb.UnimplementedPluginServer
	*service
}

func (s *pluginServer) Describe(ctx context.Context, request *pluginpb.DescribeRequest) (*pluginpb.DescribeResponse, error) {
	s.log.LogAttrs(ctx, slog.LevelDebug, "plugin started",
		slog.String("version", s.options.Version), slog.String("core_version", request.GetCoreVersion()))
	capabilities := &pluginpb.Capabilities{}
	if _, ok := s.store.(pluginapi.LeaseStore); ok {
		capabilities.Lease = &pluginpb.LeaseCapability{}
	}
	return &pluginpb.DescribeResponse{
		Name:         s.options.Name,
		Version:      s.options.Version,
		Schema:       wire.ToSchema(s.options.Schema),
		Capabilities: capabilities,
	}, nil
}

func (s *pluginServer) Validate(ctx context.Context, request *pluginpb.ValidateRequest) (*pluginpb.ValidateResponse, error) {
	config := wire.FromConfig(request.GetConfig())
	s.secrets.learn(s.options.Schema, config.Settings)
	info, err := s.store.Validate(ctx, config)
	if err == nil {
		err = s.checkKind("validate", info)
	}
	if err != nil {
		return nil, err
	}
	return &pluginpb.ValidateResponse{Info: wire.ToInfo(s.secrets.cleanInfo(info))}, nil
}

func (s *pluginServer) Configure(ctx context.Context, request *pluginpb.ConfigureRequest) (*pluginpb.ConfigureResponse, error) {
	const op = "configure"
	id := request.GetStoreId()
	if id == "" || len(id) > 64 {
		return nil, pluginapi.Errorf(pluginapi.Invalid, op, "store id: %d bytes; want 1 to 64", len(id))
	}
	if other := s.configured(); other != "" && other != id {
		return nil, pluginapi.Errorf(pluginapi.Unsupported, op, "store %q: this process serves store %q already; start another one", id, other)
	}
	config := wire.FromConfig(request.GetConfig())
	s.secrets.learn(s.options.Schema, config.Settings)
	info, err := s.store.Configure(ctx, config)
	if err == nil {
		err = s.checkKind(op, info)
	}
	if err != nil {
		return nil, err
	}
	s.setConfigured(id)
	return &pluginpb.ConfigureResponse{Info: wire.ToInfo(s.secrets.cleanInfo(info))}, nil
}

// checkKind catches a store that says lease but can't keep one.
func (s *service) checkKind(op string, info pluginapi.Info) error {
	if _, ok := s.store.(pluginapi.LeaseStore); info.Kind == pluginapi.Lease && !ok {
		return pluginapi.Errorf(pluginapi.Internal, op, "plugin %s says that it keeps leases but has no Heartbeat", s.options.Name)
	}
	return nil
}

func (s *pluginServer) Health(ctx context.Context, request *pluginpb.HealthRequest) (*pluginpb.HealthResponse, error) {
	if err := s.use("health", request.GetStoreId()); err != nil {
		return nil, err
	}
	health, err := s.store.Health(ctx)
	if err != nil {
		return nil, err
	}
	health.Detail = s.secrets.redact(health.Detail)
	return wire.ToHealth(health), nil
}

func (s *pluginServer) SetLogLevel(_ context.Context, request *pluginpb.SetLogLevelRequest) (*pluginpb.SetLogLevelResponse, error) {
	s.level.Set(wire.FromLevel(request.GetLevel()))
	return &pluginpb.SetLogLevelResponse{}, nil
}

func (s *pluginServer) Close(ctx context.Context, request *pluginpb.CloseRequest) (*pluginpb.CloseResponse, error) {
	if err := s.use("close", request.GetStoreId()); err != nil {
		return nil, err
	}
	if err := s.store.Close(ctx); err != nil {
		return nil, err
	}
	return &pluginpb.CloseResponse{}, nil
}
