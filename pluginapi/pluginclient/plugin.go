package pluginclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/wire"
)

// stopPatience is how long a plugin may take to stop before it is killed. It takes up to 3 s
// if it serves as pluginserver does.
const stopPatience = 5 * time.Second

// callTimeout is the deadline of calls whose context has none.
const callTimeout = 30 * time.Second

// pluginName is what a plugin may be called: a word of a store block.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// maxVersion is the most bytes of a plugin's version.
const maxVersion = 128

// Plugin is a running plugin process. Its methods may be called concurrently.
type Plugin struct {
	options     Options
	description Description
	client      *plugin.Client
	process     *process
	api         pluginpb.PluginClient
	store       pluginpb.StoreClient
	health      grpc_health_v1.HealthClient
	connection  *grpc.ClientConn

	mu      sync.Mutex // guards stopped
	stopped bool
	calls   sync.WaitGroup // Add only while not stopped

	closing sync.Once
	closed  error
}

// Description is what a plugin says of itself.
type Description struct {
	// Name is the word that stands in store blocks.
	Name string
	// Version is the plugin's own version.
	Version string
	// Protocol is the version of the plugin protocol that is spoken.
	Protocol int
	// Schema is what settings it takes.
	Schema pluginapi.Schema
	// Leases tells whether it can be a lease store; [pluginapi.Info.Kind] tells whether it
	// is, with given settings.
	Leases bool
}

// connect dials the plugin and asks what it is.
func (p *Plugin) connect(ctx context.Context) error {
	protocol, err := p.client.Client()
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	connected, ok := protocol.(*plugin.GRPCClient)
	if !ok {
		return fmt.Errorf("connect: %T is no gRPC client", protocol)
	}
	p.connection = connected.Conn
	p.api = pluginpb.NewPluginClient(connected.Conn)
	p.store = pluginpb.NewStoreClient(connected.Conn)
	p.health = grpc_health_v1.NewHealthClient(connected.Conn)
	answer, err := call(ctx, p, "describe", &pluginpb.DescribeRequest{CoreVersion: p.options.CoreVersion}, p.api.Describe)
	if err != nil {
		return err
	}
	p.description = Description{
		Name:     answer.GetName(),
		Version:  answer.GetVersion(),
		Protocol: handshake.Protocol,
		Schema:   wire.FromSchema(answer.GetSchema()),
		Leases:   answer.GetCapabilities().GetLease() != nil,
	}
	if reason := p.description.check(); reason != "" {
		return &StartError{Path: p.options.Path, Reason: reason, Permanent: true}
	}
	return nil
}

// check returns what is wrong with the description, or "". Name and version are printed and
// compared, so they have to be plain.
func (d Description) check() string {
	if !pluginName.MatchString(d.Name) {
		return fmt.Sprintf("it calls itself %.70q; want 1 to 64 of a-z 0-9 -, the first a letter", d.Name)
	}
	if len(d.Version) > maxVersion || plain(d.Version) != d.Version {
		return fmt.Sprintf("its version is %.140q; want at most %d printable characters", d.Version, maxVersion)
	}
	if err := d.Schema.Check(); err != nil {
		return "its schema is wrong: " + err.Error()
	}
	return ""
}

// Describe returns what the plugin said of itself when it was opened.
func (p *Plugin) Describe() Description { return p.description }

// PID returns the process id.
func (p *Plugin) PID() int { return p.process.pid }

// Done returns a channel that is closed when the process has ended and all that it wrote has
// been passed on.
func (p *Plugin) Done() <-chan struct{} { return p.process.done }

// Err returns why the process has ended: its exit status, and the last lines of its standard
// error. It returns nil while the process runs.
func (p *Plugin) Err() error { return p.process.err() }

// Ping asks whether the process answers at all. It says nothing about the backend.
func (p *Plugin) Ping(ctx context.Context) error {
	answer, err := call(ctx, p, "ping", &grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName}, p.health.Check)
	if err != nil {
		return err
	}
	if status := answer.GetStatus(); status != grpc_health_v1.HealthCheckResponse_SERVING {
		return pluginapi.Errorf(pluginapi.Internal, "ping", "the plugin says that it is %s", status)
	}
	return nil
}

// SetLogLevel changes how much the plugin logs.
func (p *Plugin) SetLogLevel(ctx context.Context, level slog.Level) error {
	_, err := call(ctx, p, "set log level", &pluginpb.SetLogLevelRequest{Level: wire.ToLevel(level)}, p.api.SetLogLevel)
	return err
}

// Validate says what a store with these settings would give; see [pluginapi.Store].
func (p *Plugin) Validate(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	const op = "validate"
	answer, err := call(ctx, p, op, &pluginpb.ValidateRequest{Config: wire.ToConfig(config)}, p.api.Validate)
	if err != nil {
		return pluginapi.Info{}, err
	}
	return wire.FromInfo(op, answer.GetInfo())
}

// Configure configures the plugin's store and returns it. The store is a
// [pluginapi.LeaseStore] if, and only if, the settings make it one. Configuring again, with
// other settings, gives a new store in place of the one before.
func (p *Plugin) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Store, pluginapi.Info, error) {
	const op = "configure"
	answer, err := call(ctx, p, op, &pluginpb.ConfigureRequest{StoreId: storeID, Config: wire.ToConfig(config)}, p.api.Configure)
	if err != nil {
		return nil, pluginapi.Info{}, err
	}
	info, err := wire.FromInfo(op, answer.GetInfo())
	if err != nil {
		return nil, pluginapi.Info{}, err
	}
	if info.Kind == pluginapi.Lease {
		return &leaseStore{store{plugin: p}}, info, nil
	}
	return &store{plugin: p}, info, nil
}

// Close asks the plugin to stop, which closes its store, and waits for it; up to 5 s, or
// until ctx ends. Then it kills what is left, the plugin's children included. It returns once
// nothing is left of the process, its directory and its connection; an error means that the
// kernel didn't let go of the process. It may be called more than once, and must be called
// also when the process has ended by itself.
func (p *Plugin) Close(ctx context.Context) error {
	p.closing.Do(func() {
		if p.closed = p.stop(ctx); p.closed == nil {
			p.client.Kill() // only frees what go-plugin holds; it could hang while the process lives
		}
		p.closed = errors.Join(p.closed, os.RemoveAll(p.process.dir))
	})
	return p.closed
}

// stop ends the process. The plugin refuses calls from the end of its lifeline on, and stays
// until we hang up, which is when the calls under way have their answers.
func (p *Plugin) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	p.process.letGo()
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done(): // the calls end with the process
	}
	if p.connection != nil {
		_ = p.connection.Close() // closed already: fine
	}
	return p.process.end(ctx)
}

// begin counts a call, unless the plugin is being closed.
func (p *Plugin) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.calls.Add(1)
	}
	return !p.stopped
}
