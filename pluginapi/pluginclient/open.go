package pluginclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

// Options say how a plugin is started. Only Path is required.
type Options struct {
	// Path is the plugin's program.
	Path string
	// Args are its arguments, usually none.
	Args []string
	// Env are more variables, as "NAME=value"; the plugin sees nothing else of the host's.
	Env []string
	// SHA256 is the expected hash of the program, in hexadecimal; empty means any. The hash
	// of a script doesn't cover what it loads.
	SHA256 string
	// RuntimeDir is where the directory with the socket is made; it must exist, and be short:
	// a socket's path has at most 107 bytes. Empty means that of the system.
	RuntimeDir string
	// StartTimeout bounds the whole start; 10 s when 0.
	StartTimeout time.Duration
	// Log gets what the plugin writes; nil drops it.
	Log *slog.Logger
	// LogLevel is the plugin's first log level; Info when 0.
	LogLevel slog.Level
	// CoreVersion is the caller's version, for the plugin's log.
	CoreVersion string
	// PlainText does without TLS, for plugins whose manifest says mtls: false. The socket is
	// still in a directory that only this user may enter.
	PlainText bool
}

const (
	defaultStartTimeout = 10 * time.Second
	// longestSocket is the most bytes of a socket's path (sun_path of unix(7)), and
	// socketName what go-plugin adds to the directory: "/plugin-dir" and "/plugin", with up
	// to 10 digits each.
	longestSocket = 107
	socketName    = len("/plugin-dir") + 10 + len("/plugin") + 10
)

func (o Options) withDefaults() Options {
	if o.StartTimeout == 0 {
		o.StartTimeout = defaultStartTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RuntimeDir == "" {
		o.RuntimeDir = os.TempDir()
	}
	o.Log = o.Log.With(slog.String("plugin", filepath.Base(o.Path)))
	return o
}

// MaxRuntimeDir is the most bytes of [Options.RuntimeDir].
const MaxRuntimeDir = longestSocket - socketName

// Open starts the plugin and asks it what it is. It returns within StartTimeout, or when ctx
// ends. A failed start is a [*StartError], and leaves nothing behind; if ctx ends, the error
// is its cause. The plugin runs until it is closed, whatever becomes of ctx.
func Open(ctx context.Context, options Options) (*Plugin, error) {
	options = options.withDefaults()
	if !filepath.IsAbs(options.Path) { // the plugin starts in another directory
		path, err := filepath.Abs(options.Path)
		if err != nil {
			return nil, fmt.Errorf("find plugin %s: %w", options.Path, err)
		}
		options.Path = path
	}
	if most := MaxRuntimeDir; len(options.RuntimeDir) > most {
		return nil, &StartError{Path: options.Path, Permanent: true, Reason: fmt.Sprintf(
			"the runtime directory %s has %d bytes; at most %d are allowed, as a socket's path has at most %d",
			options.RuntimeDir, len(options.RuntimeDir), most, longestSocket)}
	}
	binary, err := openBinary(options.Path, options.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { _ = binary.Close() }() // only read
	ctx, cancel := context.WithTimeoutCause(ctx, options.StartTimeout, errStartTimeout)
	defer cancel()
	return start(ctx, options, binary)
}

// start launches the process through go-plugin, connects, and describes.
func start(ctx context.Context, options Options, binary *os.File) (*Plugin, error) {
	p := &Plugin{options: options}
	var dir string
	// A client is good for one start only, and so is its configuration.
	printed := &lineWriter{log: func(line string) { p.process.out.noise(context.WithoutCancel(ctx), "print", line) }}
	p.client = plugin.NewClient(clientConfig(options, printed, func(env []string, socketDir string) (*process, error) {
		var err error
		dir = socketDir
		p.process, err = launch(ctx, options, binary, env, socketDir)
		return p.process, err
	}))
	if _, err := p.client.Start(); err != nil {
		_ = os.RemoveAll(dir) // go-plugin leaves it; "" removes nothing
		if !known(err) {
			err = &StartError{Path: options.Path, Reason: err.Error()}
		}
		return nil, err
	}
	// From here on whatever hangs is ended by the end of the process.
	release := context.AfterFunc(ctx, func() { _ = p.process.kill() })
	err := p.connect(ctx)
	if !release() {
		err = p.process.notInTime(ctx, options)
	}
	if err != nil {
		err = p.startFailure(err)
		_ = p.process.kill() // the reason for the failure is what matters, here and below
		_ = p.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return p, nil
}

// startFailure makes a StartError of what went wrong after the plugin had answered.
func (p *Plugin) startFailure(err error) error {
	if known(err) {
		return err
	}
	select { // a connection that breaks is often a process that ends
	case <-p.process.done:
		return p.process.startError("it ended (" + p.process.status + ") right after it had answered")
	case <-time.After(leftover):
		return p.process.startError(err.Error())
	}
}

// known tells whether err already says all: why, or that the caller gave up.
func known(err error) bool {
	_, ok := errors.AsType[*StartError](err)
	return ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// clientConfig is what we want of go-plugin: a process of our own making, gRPC over TLS, and
// none of its logging, which trusts what plugins write.
func clientConfig(options Options, printed io.Writer, launch func(env []string, dir string) (*process, error)) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  handshake.Config(),
		VersionedPlugins: map[int]plugin.PluginSet{handshake.Protocol: {}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         !options.PlainText,
		SkipHostEnv:      true,
		StartTimeout:     options.StartTimeout,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: options.RuntimeDir},
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}),
		SyncStdout:       printed,
		SyncStderr:       printed,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDisableRetry(), // a repeat is the caller's to decide
			grpc.WithDefaultCallOptions(
				grpc.MaxCallRecvMsgSize(handshake.MaxMessage),
				grpc.MaxCallSendMsgSize(handshake.MaxMessage),
			),
		},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			p, err := launch(cmd.Env, dir)
			if err != nil {
				return nil, err // not p: a nil *process isn't a nil runner
			}
			return p, nil
		},
	}
}
