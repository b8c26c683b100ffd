package pluginserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

// Options say what is served.
type Options struct {
	// Name is the word that stands in store blocks, as "redis".
	Name string
	// Version is the plugin's own version; when empty, that of the build.
	Version string
	// Schema is what settings the store takes.
	Schema pluginapi.Schema
	// New makes the store, once, before anything is known of its settings. It must not
	// connect to anything. What it logs goes to anarchon's log.
	New func(log *slog.Logger) pluginapi.Store
}

// The exit codes of Serve.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 64 // EX_USAGE of sysexits.h
)

// Serve serves a store until anarchon lets go of the plugin, and returns the exit code of
// the process. It takes over standard input, output and error, and signals; call it once,
// from main. Started by hand it prints what the program is and returns 64, or prints a
// description as JSON and returns 0 if the argument is --describe.
func Serve(options Options) int {
	if options.Version == "" {
		options.Version = buildVersion()
	}
	if os.Getenv(handshake.CookieKey) != handshake.CookieValue {
		return byHand(options, os.Args[1:], os.Stdout, os.Stderr)
	}
	secrets := &secrets{}
	stderr := secrets.writer(os.Stderr) // go-plugin replaces os.Stderr: keep the real one
	level := levelFromEnv()
	log := newLogger(stderr, level)
	served := newService(options, log, level, secrets)

	quiet := ignoreSignals(log)
	defer quiet()
	go served.stopAfter(os.Stdin)
	return serve(served, stderr)
}

// serve does the handshake and returns once the gRPC server has stopped.
func serve(served *service, stderr io.Writer) int {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake.Config(),
		VersionedPlugins: map[int]plugin.PluginSet{
			handshake.Protocol: {"store": &grpcPlugin{served: served}},
		},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return served.newServer(opts)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: stderr, JSONFormat: true}),
	})
	if !served.started() {
		return exitFailed
	}
	served.closeStore()
	// The directory of the socket is anarchon's to remove; but it may be gone.
	_ = os.Remove(os.Getenv(plugin.EnvUnixSocketDir)) // not empty, or removed: leave it
	return exitOK
}

// grpcPlugin registers our services on go-plugin's server.
type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin

	served *service
}

// GRPCClient implements plugin.GRPCPlugin; nobody is a client of itself.
func (p *grpcPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is a plugin's server")
}

// GRPCServer implements plugin.GRPCPlugin.
func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	pluginpb.RegisterPluginServer(server, &pluginServer{service: p.served})
	pluginpb.RegisterStoreServer(server, &storeServer{service: p.served})
	return nil
}

// buildVersion returns the version of the main module as the build knows it.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
