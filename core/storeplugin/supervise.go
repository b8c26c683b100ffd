package storeplugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

const (
	firstPause   = 200 * time.Millisecond // before the second restart in a row; doubled from there on
	longestPause = 30 * time.Second
	healthyAfter = time.Minute      // a process that lived this long has the pauses start anew
	missedPings  = 3                // in a row: the process hangs
	endTime      = time.Second      // for a process that failed to end by itself
	stopTime     = 8 * time.Second  // for the calls under way, and the process, when Run ends
	setupTime    = 30 * time.Second // for Configure: the backend may have to migrate what it keeps
)

// errMisbehaved is a cause for quarantine that the plugin itself doesn't report.
var errMisbehaved = errors.New("the store broke its contract")

// Run keeps the plugin running, through crashes and restarts, until ctx ends; then it closes
// the Store and returns. Its error is what went wrong in closing. It must be called once.
func (s *Store) Run(ctx context.Context) error {
	var restarts pauses
	for ctx.Err() == nil {
		began := time.Now()
		err := s.live(ctx)
		if ctx.Err() != nil {
			break // Close ends the process, after the calls under way
		}
		log := s.options.Log.With(slog.String("plugin", s.path), slog.Any("err", err))
		if permanent(err) {
			s.down(ctx, Quarantined, err)
			log.ErrorContext(ctx, "the store's plugin is quarantined: act on the reason, then replace its file or reload")
			s.awaitNewFile(ctx)
			restarts = pauses{}
			continue
		}
		s.down(ctx, Backoff, err)
		if time.Since(began) >= healthyAfter {
			restarts = pauses{}
		}
		pause := restarts.next()
		log.WarnContext(ctx, "the store's plugin ended and is started again", slog.Duration("pause", pause))
		wait(ctx, pause)
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return s.Close(stop)
}

// live is one process's life: it starts it, configures it, and watches it until it has ended
// or must end, or ctx has ended. Its error says why.
func (s *Store) live(ctx context.Context) error {
	plugin, err := s.process(ctx)
	if err != nil {
		return err
	}
	backend, info, err := s.configure(ctx, plugin)
	if err != nil {
		return err
	}
	s.setLimits(info.Limits)
	select {
	case <-s.violations: // of the process before
	default:
	}
	s.set(func(status *Status) {
		s.backend, s.info = backend, info
		status.State, status.Reason = Ready, ""
	})
	return s.watch(ctx, plugin, backend)
}

// down makes calls wait, or fail, from now on, and then ends the process if there is one.
func (s *Store) down(ctx context.Context, state State, err error) {
	var plugin *pluginclient.Plugin
	s.set(func(status *Status) {
		plugin, s.plugin, s.backend = s.plugin, nil, nil
		*status = Status{State: state, Reason: err.Error(), Restarts: status.Restarts}
	})
	if plugin == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	if err := plugin.Close(ctx); err != nil {
		s.options.Log.DebugContext(ctx, "the plugin's process ended badly", slog.Any("err", err))
	}
}

// process returns the process that Open started, the first time, and a new one later.
func (s *Store) process(ctx context.Context) (*pluginclient.Plugin, error) {
	s.mu.Lock()
	plugin := s.plugin
	s.mu.Unlock()
	if plugin == nil {
		s.set(func(status *Status) { status.State, status.Restarts = Starting, status.Restarts+1 })
		var err error
		if plugin, err = s.launch(ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.plugin = plugin
		s.mu.Unlock()
	}
	s.set(func(status *Status) { status.State, status.PID = Configuring, plugin.PID() })
	return plugin, nil
}

func (s *Store) launch(ctx context.Context) (*pluginclient.Plugin, error) {
	s.file, _ = os.Stat(s.path) // what is wrong with the file, Open says
	return pluginclient.Open(ctx, pluginclient.Options{
		Path:       s.path,
		Log:        s.options.Log,
		RuntimeDir: s.options.RuntimeDir,
	})
}

// configure connects the plugin to its backend. While the backend is away it tries again with
// the same process, for as long as that lives.
func (s *Store) configure(ctx context.Context, plugin *pluginclient.Plugin) (pluginapi.Store, pluginapi.Info, error) {
	var retries pauses
	for {
		call, cancel := context.WithTimeout(ctx, setupTime)
		backend, info, err := plugin.Configure(call, s.config())
		cancel()
		if err == nil {
			return backend, info, nil
		}
		if ctx.Err() != nil || pluginapi.CodeOf(err) != pluginapi.Unavailable {
			return nil, info, err
		}
		s.set(func(status *Status) { status.Reason = err.Error() })
		select {
		case <-plugin.Done():
			return nil, info, plugin.Err()
		case <-time.After(max(retries.next(), firstPause)):
		case <-ctx.Done():
			return nil, info, err
		}
	}
}

// watch returns why the process has ended or must end: it died, hangs, or broke the contract.
func (s *Store) watch(ctx context.Context, plugin *pluginclient.Plugin, backend pluginapi.Store) error {
	ping := time.NewTicker(s.options.Watch.Ping)
	defer ping.Stop()
	health := time.NewTicker(s.options.Watch.Health)
	defer health.Stop()
	missed := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-plugin.Done():
			return plugin.Err()
		case how := <-s.violations:
			return fmt.Errorf("%w: %s", errMisbehaved, how)
		case <-ping.C:
			call, cancel := context.WithTimeout(ctx, s.options.Watch.PingTimeout)
			err := plugin.Ping(call)
			cancel()
			if err == nil {
				missed = 0
				continue
			}
			if missed++; missed == missedPings {
				return fmt.Errorf("the plugin's process hangs: %d pings in a row got no answer: %w", missed, err)
			}
		case <-health.C:
			s.look(ctx, backend)
		}
	}
}

// look asks for the backend's health. An ill backend is no reason to end the process.
func (s *Store) look(ctx context.Context, backend pluginapi.Store) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Watch.PingTimeout)
	defer cancel()
	health, err := backend.Health(ctx)
	now := time.Now()
	s.set(func(status *Status) {
		if err != nil {
			status.State, status.Reason = Degraded, err.Error()
			return
		}
		status.State, status.Reason, status.Skew = Ready, "", 0
		if !health.StoreTime.IsZero() {
			status.Skew = health.StoreTime.Sub(now).Round(time.Millisecond)
		}
	})
}

// permanent tells whether starting the plugin again can't help.
func permanent(err error) bool {
	if errors.Is(err, errMisbehaved) {
		return true
	}
	if start, ok := errors.AsType[*pluginclient.StartError](err); ok {
		return start.Permanent
	}
	problem, ok := errors.AsType[*pluginapi.Error](err)
	return ok && (problem.Code == pluginapi.Invalid || problem.Code == pluginapi.Unsupported)
}

// awaitNewFile waits until the plugin's file is another one than was started last, or ctx
// ends.
func (s *Store) awaitNewFile(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, s.options.Watch.File)
		now, err := os.Stat(s.path)
		if err != nil {
			continue // being replaced
		}
		was := s.file
		if was == nil || !os.SameFile(was, now) || now.ModTime() != was.ModTime() || now.Size() != was.Size() {
			return
		}
	}
}

// pauses gives the pauses before restarts: none before the first, then up to 200 ms, doubled
// up to 30 s; each is drawn at random from nothing to that, so that instances whose plugins
// die together don't come back together.
type pauses struct {
	begun bool
	last  time.Duration
}

func (p *pauses) next() time.Duration {
	if !p.begun {
		p.begun = true
		return 0
	}
	p.last = min(max(2*p.last, firstPause), longestPause)
	return rand.N(p.last)
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
