package pluginserver

import (
	"context"
	"sync"

	"google.golang.org/grpc/stats"
)

// hangup notices that the caller has closed its connection. It is a stats.Handler since gRPC
// tells this to nobody else.
type hangup struct {
	once sync.Once
	done chan struct{} // closed at the first end of a connection; a plugin has one caller
}

// HandleConn implements stats.Handler.
func (h *hangup) HandleConn(_ context.Context, event stats.ConnStats) {
	if _, ok := event.(*stats.ConnEnd); ok {
		h.once.Do(func() { close(h.done) })
	}
}

// TagConn implements stats.Handler.
func (h *hangup) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC implements stats.Handler.
func (h *hangup) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (h *hangup) HandleRPC(context.Context, stats.RPCStats) {}
