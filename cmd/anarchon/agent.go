package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/instance"
	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
)

// agentOptions are the flags of `anarchon agent`.
type agentOptions struct {
	config    string
	name      string
	dataDir   string
	listen    string
	logLevel  string
	logFormat string
}

func newAgent(s streams) *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run one instance",
		Long: `Run one instance until SIGTERM, SIGINT or SIGHUP, which drain it: no new slots, running work goes on for
the configuration's drain_timeout, and what still runs then is stopped and handed to another
instance. A second signal skips the wait.

Start it on as many machines as you like, with the same job files and the same store.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := newLog(s.err, o.logLevel, o.logFormat)
			if err != nil {
				return invalid(err)
			}
			return runAgent(cmd.Context(), s, o, log)
		},
	}
	flags := cmd.Flags()
	addConfigFlag(flags, &o.config)
	addDataDirFlag(flags, &o.dataDir)
	flags.StringVar(&o.name, "name", "", "the instance's `name`, unique among the live ones (default: the configuration's, else the host's)")
	flags.StringVar(&o.listen, "listen", "", "answer /livez and /readyz on this loopback `address`, as 127.0.0.1:7070")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&o.logFormat, "log-format", "", "text or json (default: text on a terminal, else json)")
	return cmd
}

var validInstance = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func instanceName(flag, configured string) (string, error) {
	name := flag
	if name == "" {
		name = configured
	}
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return "", fmt.Errorf("no name for this instance: say --name (%w)", err)
		}
		name = host
	}
	if !validInstance.MatchString(name) {
		return "", invalid(fmt.Errorf("instance name %.140q: want 1 to 128 letters, digits, '.', '_' or '-', the first a letter or digit", name))
	}
	return name, nil
}

func runAgent(ctx context.Context, s streams, o agentOptions, log *slog.Logger) error {
	// The reader of the log may die. Then lines are lost; without this the whole instance
	// would be killed, undrained. (Ignoring the signal instead would be inherited by jobs.)
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	l, err := load(ctx, s, o.config, o.dataDir)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	name, err := instanceName(o.name, l.config.Agent.Name)
	if err != nil {
		return err
	}
	log = log.With(slog.String("instance", name))
	if err := os.MkdirAll(l.dataDir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	listener, err := listenLoopback(ctx, o.listen)
	if err != nil {
		return err
	}
	runtimeDir, release, err := makeRuntimeDir()
	if err != nil {
		return err
	}
	defer release()

	status := newStatusWatch(log)
	store, err := storeplugin.Open(ctx, storeplugin.Options{
		Plugin: l.plugin, Settings: l.setting, Instance: name,
		RuntimeDir: runtimeDir, Log: log.With(slog.String("store", l.store.Name)), OnStatus: status.changed,
	})
	if err != nil {
		return unlessStopped(ctx, err)
	}
	bus := &event.Bus{}
	bus.Subscribe(event.Log(log)) //nolint:contextcheck // events have no context
	inst, err := instance.New(instance.Options{
		Name: name, Jobs: l.config.Jobs, Store: store, Kind: l.info.Kind, WorkDir: l.dataDir,
		MaxRunning: l.config.Agent.MaxRunning, DrainTimeout: l.config.Agent.DrainTimeout,
		Events: bus, Log: log, Now: time.Now, Boot: boottime.Now, WatchClock: true,
	})
	if err != nil {
		return errors.Join(err, store.Close(ctx))
	}
	return serve(ctx, log, store, status, inst, listener)
}

// unlessStopped returns err, and nil if the instance was told to stop before it had started:
// that cuts short whatever is under way, and is no failure.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return err
}

// serve runs store and instance, and stops them in that order: the store outlives the drain.
func serve(ctx context.Context, log *slog.Logger, store *storeplugin.Store, status *statusWatch, inst *instance.Instance, listener net.Listener) error {
	supervision, endSupervision := context.WithCancel(context.WithoutCancel(ctx))
	defer endSupervision()
	supervised := make(chan error, 1)
	go func() { supervised <- store.Run(supervision) }()

	stopProbes := serveProbes(listener, status, log)
	defer stopProbes()

	err := status.await(ctx)
	if err == nil && ctx.Err() == nil {
		log.InfoContext(ctx, "ready", slog.String("version", buildVersion()), slog.String("guarantee", store.Info().Guarantee))
		defer context.AfterFunc(ctx, func() {
			log.InfoContext(ctx, "stopping; a second signal skips the drain")
			status.stop()
			hurryOn(supervision, inst)
		})()
		err = inst.Run(ctx)
	}
	endSupervision()
	err = errors.Join(err, <-supervised)
	if err == nil {
		log.InfoContext(ctx, "stopped")
	}
	return err
}

// hurryOn ends the patience of the drain at the next signal. It asks for signals only now that
// the first one has been handed to everybody, so it can't take that one for the second.
func hurryOn(over context.Context, inst *instance.Instance) {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(again)
	select {
	case <-over.Done():
	case <-again:
		inst.Hurry()
	}
}
