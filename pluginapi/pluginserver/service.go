package pluginserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// stopTime is how long a plugin may take to stop: the calls under way, then the store's Close.
const stopTime = 3 * time.Second

// maxStreams is how many calls may be under way at once on a connection.
const maxStreams = 1024

// ours begins the names of our calls; the others on the server are go-plugin's own.
const ours = "/anarchon.plugin.v1."

// service is one plugin process: the store and what stands around it.
type service struct {
	options Options
	store   pluginapi.Store
	log     *slog.Logger
	level   *slog.LevelVar
	secrets *secrets

	mu       sync.Mutex // guards all below
	server   *grpc.Server
	storeID  string // of the configured store; "" before
	stopping bool
	calls    sync.WaitGroup // Add only while not stopping
	closing  sync.Once
	hangup   *hangup
}

func newService(options Options, log *slog.Logger, level *slog.LevelVar, secrets *secrets) *service {
	return &service{
		options: options, store: options.New(log), log: log, level: level, secrets: secrets,
		hangup: &hangup{done: make(chan struct{})},
	}
}

// newServer makes the gRPC server that go-plugin then serves.
func (s *service) newServer(opts []grpc.ServerOption) *grpc.Server {
	server := grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(handshake.MaxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.UnaryInterceptor(s.intercept),
		grpc.StatsHandler(s.hangup),
	)...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = server
	if s.stopping { // the host died before there was a server for stopAfter to stop
		server.Stop()
	}
	return server
}

func (s *service) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server != nil
}

// intercept stands around each of our calls. Handlers return plain errors; here they become
// statuses, without secrets.
func (s *service) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (answer any, err error) {
	if !strings.HasPrefix(info.FullMethod, ours) {
		return handle(ctx, request)
	}
	op := strings.ToLower(path.Base(info.FullMethod))
	if !s.begin() {
		return nil, wire.ToStatus(op, pluginapi.Errorf(pluginapi.Unavailable, op, "the plugin is stopping"))
	}
	defer s.calls.Done()
	defer func() {
		if r := recover(); r != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "panic in the store",
				slog.String("call", op), slog.String("panic", fmt.Sprint(r)), slog.String("stack", string(debug.Stack())))
			answer, err = nil, wire.ToStatus(op, s.secrets.clean(
				pluginapi.Errorf(pluginapi.Internal, op, "panic in plugin %s: %v; its log has the stack", s.options.Name, r)))
		}
	}()
	answer, err = handle(ctx, request)
	if err != nil {
		return nil, wire.ToStatus(op, s.secrets.clean(pluginapi.AsError(op, err)))
	}
	return answer, nil
}

// begin counts a call, unless the plugin is stopping.
func (s *service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.calls.Add(1)
	}
	return !s.stopping
}

// configured returns the id of the configured store, "" before.
func (s *service) configured() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storeID
}

func (s *service) setConfigured(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeID = id
}

// use returns an error unless id names the configured store.
func (s *service) use(op, id string) error {
	switch configured := s.configured(); configured {
	case "": // first: an empty id names no store, either
		return pluginapi.Errorf(pluginapi.Unavailable, op, "store %.64q isn't configured", id)
	case id:
		return nil
	default:
		return pluginapi.Errorf(pluginapi.Unsupported, op, "store %.64q: this process serves only store %q", id, configured)
	}
}

// stopAfter stops the plugin at the end of lifeline.
func (s *service) stopAfter(lifeline io.Reader) {
	_, _ = io.Copy(io.Discard, lifeline) // an error is an end, too
	s.mu.Lock()
	s.stopping = true
	server := s.server
	s.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.calls.Wait()
		s.closeStore()
		<-s.hangup.done // answers may still be on their way: the caller hangs up when it has them
	}()
	select {
	case <-ended:
	case <-time.After(stopTime):
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "stopped without waiting any longer", slog.Duration("after", stopTime)) //nolint:forbidigo // the process ends: there is no caller
	}
	if server != nil {
		server.Stop() // lets serve return
	}
}

// closeStore closes the store, once.
func (s *service) closeStore() {
	s.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime) //nolint:forbidigo // the process ends: there is no caller
		defer cancel()
		if err := s.store.Close(ctx); err != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "close store", slog.String("err", err.Error()))
		}
	})
}
