package pluginclient_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginserver"
)

// programs are what this binary can be started as: plugins, good and bad, and a host.
var programs = map[string]func() int{
	"good": func() int { return serve(memory) },
	"gate": func() int {
		return serve(func(*slog.Logger) pluginapi.Store { return memstore.New(memstore.Options{}).Gate() })
	},
	"odd": func() int {
		return serve(func(log *slog.Logger) pluginapi.Store { return &odd{Store: memory(log), log: log} })
	},
	"rogue": serveRogue,
	"host":  runHost,

	"exit 0": func() int { return 0 },
	"exit 7": func() int { return complain(7, "no disk") },
	"panic":  func() int { panic("bad init") },
	"foreign": func() int {
		return complain(1, "This binary is a plugin. These are not meant to be executed directly.")
	},
	"silent": hang,
	"noisy": func() int {
		say(strings.Repeat("x", 200_000) + "\n\x00\x01|1|\r\nhello\n")
		return serve(memory)
	},
	"garbage":   func() int { say(strings.Repeat("rubbish\n", 1000)); return hang() },
	"tcp":       func() int { return answer("1|1|tcp|10.0.0.1:443|grpc|") },
	"outside":   func() int { return answer("1|1|unix|/tmp/elsewhere/socket|grpc|") },
	"climbing":  func() int { return answer("1|1|unix|" + socketDir() + "/../socket|grpc|") },
	"no socket": func() int { return answer("1|1|unix|" + socketDir() + "/socket|grpc|") },
	"protocol 9": func() int {
		return answer("1|9|unix|" + socketDir() + "/socket|grpc|")
	},
	"core protocol 2": func() int { return answer("2|1|unix|" + socketDir() + "/socket|grpc|") },
	"net rpc":         func() int { return answer("1|1|unix|" + socketDir() + "/socket|netrpc|") },
	"no certificate":  func() int { return answer("1|1|unix|" + listen() + "|grpc|") },
	"bad certificate": func() int { return answer("1|1|unix|" + listen() + "|grpc|" + strings.Repeat("QUJD", 20)) },
	// It answers as if it served, and then accepts no connection.
	"mute": func() int { return answer("1|1|unix|" + listen() + "|grpc|" + certificate()) },

	"odd log": func() int {
		complain(0, `{"@level":3,"@message":"x"}`, `{"@level":"info"}`, `[1,2]`, `{`, `{"@level":"error","@message":"real \u001b[2J","n":1,"job":"forged"}`)
		return serve(memory)
	},
	"flood": func() int {
		for i := range floodLines {
			complain(0, fmt.Sprintf("line %d", i))
		}
		return 3
	},
	"orphan maker": func() int { // leaves a child of its own group that holds all its pipes
		startChild("silent", false)
		return serve(memory)
	},
	"runaway maker": func() int { // and one that has left the group
		startChild("silent", true)
		return complain(4, "gone")
	},
	"deaf": func() int { // never stops by itself
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		go serve(memory)
		return hang()
	},
	"short-lived": func() int {
		say("1|1|unix|" + listen() + "|grpc|" + certificate() + "\n")
		return complain(6, `{"@level":"error","@message":"that was all","reason":"x"}`)
	},
	"odd name": func() int { return pluginserver.Serve(pluginserver.Options{Name: "Bad name", New: memory}) },
	"env":      func() int { return complain(5, strings.Join(os.Environ(), "\x01")) },
}

const floodLines = 20_000

func memory(*slog.Logger) pluginapi.Store { return memstore.New(memstore.Options{}) }

func serve(newStore func(*slog.Logger) pluginapi.Store) int {
	return pluginserver.Serve(pluginserver.Options{Name: "test", Version: "1.2.3", Schema: secretSchema, New: newStore})
}

var secretSchema = pluginapi.Schema{Attributes: []pluginapi.Attribute{
	{Name: "password", Type: pluginapi.String, Sensitive: true, Description: "A secret."},
}}

func socketDir() string { return os.Getenv(plugin.EnvUnixSocketDir) }

// answer prints a handshake line and hangs.
func answer(line string) int {
	say(line + "\n")
	return hang()
}

// hang stays until it is killed.
func hang() int {
	select {}
}

// complain writes lines to standard error.
func complain(code int, lines ...string) int {
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, line)
	}
	return code
}

func say(text string) { fmt.Print(text) }

func listen() string {
	path := filepath.Join(socketDir(), "s")
	if _, err := net.Listen("unix", path); err != nil {
		panic(err)
	}
	return path
}

// startChild starts a program that inherits standard output and error.
func startChild(mode string, ownGroup bool) {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	child := exec.Command(path)
	child.Env = append(os.Environ(), modeEnv+"="+mode)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: ownGroup}
	if err := child.Start(); err != nil {
		panic(err)
	}
	complain(0, fmt.Sprintf("child %d", child.Process.Pid))
}

// runHost opens the plugin "good" as an instance would, tells its process id, and waits for
// its own end.
func runHost() int {
	options := pluginclient.Options{
		Path: os.Args[0], Env: []string{modeEnv + "=good", "GORACE=atexit_sleep_ms=0"}, RuntimeDir: os.Getenv("TEST_RUNTIME_DIR"),
	}
	p, err := pluginclient.Open(context.Background(), options)
	if err != nil {
		return complain(1, err.Error())
	}
	say(fmt.Sprintln(p.PID()))
	<-p.Done()
	return 0
}

// odd is a store whose answer depends on the job's name.
type odd struct {
	pluginapi.Store
	log *slog.Logger
}

func (o *odd) Validate(context.Context, pluginapi.Config) (pluginapi.Info, error) {
	return pluginapi.Info{}, &pluginapi.Error{Code: pluginapi.Invalid, Msg: "two problems", Diagnostics: []pluginapi.Diagnostic{
		{Summary: "no such host", Path: pluginapi.Attr("address")},
		{Summary: "too short", Path: append(pluginapi.Attr("users"), pluginapi.Step{Index: 2}), Severity: pluginapi.SeverityWarning},
	}}
}

func (o *odd) Configure(context.Context, pluginapi.Config) (pluginapi.Info, error) {
	return pluginapi.Info{Kind: pluginapi.Gate}, nil
}

func (o *odd) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	switch claims[0].Job {
	case "panic":
		panic("the store has a bug")
	case "short":
		return make([]pluginapi.ClaimResult, len(claims)-1), nil
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "full":
		return nil, pluginapi.Errorf(pluginapi.Capacity, "claim", "the table is full")
	case "secret":
		o.log.LogAttrs(ctx, slog.LevelError, "login with hunter22 failed", slog.String("dsn", "postgres://u:hunter22@h/db"))
		return []pluginapi.ClaimResult{{Err: pluginapi.Errorf(pluginapi.Unavailable, "claim", "login with hunter22 failed")}}, nil
	case "leaking-error":
		return nil, errors.New("dial postgres://u:hunter22@h/db: refused")
	case "print":
		fmt.Println("printed by the store")
		return []pluginapi.ClaimResult{{Verdict: pluginapi.Lost}}, nil
	case "info":
		o.log.LogAttrs(ctx, slog.LevelInfo, "for your information")
		return []pluginapi.ClaimResult{{Verdict: pluginapi.Lost}}, nil
	case "slow":
		o.log.LogAttrs(ctx, slog.LevelInfo, "slow claim has begun")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the plugin is asked to stop
		return []pluginapi.ClaimResult{{Verdict: pluginapi.Lost}}, nil
	default:
		return nil, fmt.Errorf("nobody classified this")
	}
}

// serveRogue serves a plugin that isn't made with pluginserver, and answers nonsense.
func serveRogue() int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake.Config(),
		Plugins:         plugin.PluginSet{"store": &rogue{}},
		GRPCServer:      plugin.DefaultGRPCServer,
	})
	return 0
}

type rogue struct {
	plugin.NetRPCUnsupportedPlugin
	pluginpb.UnimplementedPluginServer
	pluginpb.UnimplementedStoreServer
}

func (r *rogue) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	pluginpb.RegisterPluginServer(s, r)
	pluginpb.RegisterStoreServer(s, r)
	return nil
}

func (r *rogue) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("not a client")
}

func (r *rogue) Describe(context.Context, *pluginpb.DescribeRequest) (*pluginpb.DescribeResponse, error) {
	return &pluginpb.DescribeResponse{Name: "rogue"}, nil
}

func (r *rogue) Configure(context.Context, *pluginpb.ConfigureRequest) (*pluginpb.ConfigureResponse, error) {
	return &pluginpb.ConfigureResponse{Info: &pluginpb.Info{Kind: pluginpb.Kind_KIND_LEASE}}, nil
}

func (r *rogue) Claim(_ context.Context, request *pluginpb.ClaimRequest) (*pluginpb.ClaimResponse, error) {
	switch request.GetClaims()[0].GetJob() {
	case "short":
		return &pluginpb.ClaimResponse{}, nil
	case "verdict":
		return &pluginpb.ClaimResponse{Results: []*pluginpb.ClaimResult{{Verdict: 99}}}, nil
	case "huge":
		return &pluginpb.ClaimResponse{Results: []*pluginpb.ClaimResult{{Holder: strings.Repeat("x", 5<<20)}}}, nil
	default: // hangs, and pays no regard to the context
		select {}
	}
}

// readPID reads a process id, as a host prints it.
func readPID(r io.Reader) (pid int, err error) {
	_, err = fmt.Fscanln(bufio.NewReader(r), &pid)
	return pid, err
}

// certificate returns one that parses, as a handshake has it.
func certificate() string {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return base64.RawStdEncoding.EncodeToString(der)
}
