package storeplugin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin/internal/batch"
	"github.com/anarchon-scheduler/anarchon/core/storeplugin/internal/guard"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// Options is how a Store is opened.
type Options struct {
	// Plugin is the plugin's name, looked up in Dirs, or the path of its binary; see [Find].
	Plugin string
	// Dirs is where a name is looked up, as [Dirs] gives it.
	Dirs []string
	// Settings are the store's settings, checked against the plugin's schema.
	Settings json.RawMessage
	// Instance is this instance's name.
	Instance string
	// RuntimeDir is a directory for sockets: private, and short, since a socket's path is
	// limited to about 100 bytes.
	RuntimeDir string
	// Log gets the plugin's log, and what happens to its process.
	Log *slog.Logger
	// OnStatus is called with each change of the plugin's status, in order; nil is allowed. It
	// must not block, and must not call the Store.
	OnStatus func(Status)
	// Watch is how the process is watched; the zero value means the defaults.
	Watch Watch
}

// Watch is how a plugin's process is watched. Zero values stand for the defaults.
type Watch struct {
	// Ping is the time between two pings of the process; by default 5 s.
	Ping time.Duration
	// PingTimeout is how long a ping may take; by default 3 s. Three misses in a row get the
	// process killed.
	PingTimeout time.Duration
	// Health is the time between two looks at the backend's health; by default 10 s. A look
	// may take as long as a ping.
	Health time.Duration
	// File is the time between two looks at a quarantined plugin's file; by default 5 s.
	File time.Duration
}

func (w Watch) withDefaults() Watch {
	for value, fallback := range map[*time.Duration]time.Duration{
		&w.Ping: 5 * time.Second, &w.PingTimeout: 3 * time.Second, &w.Health: 10 * time.Second, &w.File: 5 * time.Second,
	} {
		if *value <= 0 {
			*value = fallback
		}
	}
	return w
}

// Store is a store in a plugin. Its calls may be made concurrently, and at any time after
// Open; they are answered while Run runs.
type Store struct {
	options    Options
	path       string // the plugin's binary
	claims     *batch.Batcher[pluginapi.Claim, pluginapi.ClaimResult]
	heartbeats *batch.Batcher[pluginapi.Heartbeat, pluginapi.HeartbeatResult]
	finishes   *batch.Batcher[pluginapi.Finish, pluginapi.FinishResult]
	guard      guard.Guard
	violations chan string // size 1: one is enough to end the process

	description pluginclient.Description
	file        os.FileInfo // of the binary when it was last started; Run's once Open has returned

	mu      sync.Mutex // guards what follows
	status  Status
	changed chan struct{}        // closed, and replaced, when the status has changed
	backend pluginapi.Store      // nil unless the status is up
	plugin  *pluginclient.Plugin // the process; nil when there is none
	info    pluginapi.Info
}

// Open finds and starts the plugin and has it check the settings; it doesn't connect to the
// backend, which [Store.Run] does. Its errors are those that a restart can't cure: no such
// plugin, one that doesn't start, or settings that are wrong, as a *pluginapi.Error of code
// Invalid with a diagnostic for each problem. The caller runs Run, or else calls Close.
func Open(ctx context.Context, options Options) (*Store, error) {
	options.Watch = options.Watch.withDefaults()
	path, err := Find(options.Plugin, options.Dirs)
	if err != nil {
		return nil, err
	}
	s := &Store{
		options:    options,
		path:       path,
		violations: make(chan string, 1),
		changed:    make(chan struct{}),
		status:     Status{State: Starting},
	}
	s.claims = batch.New("claim", pluginapi.Limits{}, s.sendClaims)
	s.heartbeats = batch.New("heartbeat", pluginapi.Limits{}, s.sendHeartbeats)
	s.finishes = batch.New("finish", pluginapi.Limits{}, s.sendFinishes)
	plugin, err := s.launch(ctx)
	if err != nil {
		return nil, err
	}
	info, err := plugin.Validate(ctx, s.config())
	if err != nil {
		return nil, errors.Join(err, plugin.Close(ctx))
	}
	s.plugin, s.info, s.description = plugin, info, plugin.Describe()
	s.setLimits(info.Limits)
	return s, nil
}

// Info is what the store promises with these settings. Before the first connection to the
// backend it is what the settings alone tell.
func (s *Store) Info() pluginapi.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// Status is the plugin's present status.
func (s *Store) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Describe tells which plugin it is, and what settings it has.
func (s *Store) Describe() pluginclient.Description { return s.description }

// Close answers the calls under way, frees what the store took, and ends the process. It
// returns soon after ctx has ended, without the first two then. Calls that come later are
// Unavailable. It may be called more than once.
func (s *Store) Close(ctx context.Context) error {
	err := errors.Join(s.claims.Close(ctx), s.heartbeats.Close(ctx), s.finishes.Close(ctx))
	s.mu.Lock()
	backend, plugin := s.backend, s.plugin
	s.backend, s.plugin = nil, nil
	s.mu.Unlock()
	if backend != nil {
		err = errors.Join(err, backend.Close(ctx))
	}
	if plugin != nil {
		err = errors.Join(err, plugin.Close(ctx))
	}
	s.set(func(status *Status) {
		*status = Status{State: Closed, Reason: "the store was closed", Restarts: status.Restarts}
	})
	return err
}

func (s *Store) config() pluginapi.Config {
	return pluginapi.Config{Settings: s.options.Settings, Instance: s.options.Instance}
}

func (s *Store) setLimits(limits pluginapi.Limits) {
	s.claims.SetLimits(limits)
	s.heartbeats.SetLimits(limits)
	s.finishes.SetLimits(limits)
}

// set changes the status, and what else mu guards, and tells everybody.
func (s *Store) set(change func(*Status)) {
	s.mu.Lock()
	before := s.status
	change(&s.status)
	status := s.status
	if status != before {
		close(s.changed)
		s.changed = make(chan struct{})
	}
	s.mu.Unlock()
	if status != before && s.options.OnStatus != nil {
		s.options.OnStatus(status)
	}
}
