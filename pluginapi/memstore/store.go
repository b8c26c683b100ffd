package memstore

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// The defaults of [Options].
const (
	DefaultHistory = 1000
	DefaultWindow  = 5 * time.Minute
)

// Options are the settings of the data. The zero value is ready for use.
type Options struct {
	// Now reads the store's clock; nil means time.Now. It is called with a lock held, so it
	// must not call the store.
	Now func() time.Time
	// History is how many ended runs of a job are kept; 0 means [DefaultHistory]. Forgetting
	// an ended run never frees its slot: see [pluginapi.Late].
	History int
	// Window is for how long a gate client remembers a claim; 0 means [DefaultWindow].
	Window time.Duration
}

// Store is one client of the data: a [pluginapi.LeaseStore]. It works without Configure.
type Store struct {
	client
}

var _ pluginapi.LeaseStore = (*Store)(nil)

// New makes empty data and returns a client on it.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.History == 0 {
		o.History = DefaultHistory
	}
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	return &Store{client{data: &data{
		options: o,
		jobs:    map[string]*jobRuns{},
		gate:    map[gateKey]gateClaim{},
	}}}
}

// Open returns another client on the same data, as another instance would have. Closing one
// leaves the others open.
func (s *Store) Open() *Store { return &Store{client{data: s.data}} }

// Gate returns a client that is only a gate store, on the same clock. Gate clients share
// their claims with each other and not with the lease clients.
func (s *Store) Gate() *Gate { return &Gate{client{data: s.data}} }

// data is what all clients share: the server's side.
type data struct {
	options Options

	mu   sync.Mutex // guards what follows; holding it is the atomic step
	jobs map[string]*jobRuns
	gate map[gateKey]gateClaim
	// gateOrder are the keys of gate, oldest claim first.
	gateOrder []gateKey
}

// jobRuns are the runs of one job.
type jobRuns struct {
	runs    map[pluginapi.Slot]*run
	running map[pluginapi.Slot]*run // those of runs that have not ended
	// floor is the newest slot that was forgotten. A slot at or below it that isn't in runs
	// may have been claimed, so it is never given away again.
	floor pluginapi.Slot
}

// run is one run; its times are the store's.
type run struct {
	token    pluginapi.Token // the holder's; "" when the run was interrupted
	until    time.Time       // the end of the lease
	attempts []pluginapi.Attempt
	outcome  pluginapi.Outcome // 0 while running
	exitCode int
	detail   string
	finished time.Time
}

// holder returns the attempt that has, or had, the run.
func (r *run) holder() *pluginapi.Attempt { return &r.attempts[len(r.attempts)-1] }

// live tells whether the run's lease is live: it runs, and lease_until >= now.
func (r *run) live(now time.Time) bool { return r.outcome == 0 && !r.until.Before(now) }

// client is what lease and gate clients have in common.
type client struct {
	data *data

	mu     sync.RWMutex // read-held by calls under way, so that Close waits for them
	closed bool
}

// begin starts a call of n items; the caller calls end when it returns nil.
func (c *client) begin(ctx context.Context, op string, n int) error {
	if err := ctx.Err(); err != nil {
		return pluginapi.AsError(op, err)
	}
	if n > pluginapi.DefaultMaxBatch {
		return pluginapi.Errorf(pluginapi.Invalid, op, "a batch of %d: at most %d are allowed; send it in parts",
			n, pluginapi.DefaultMaxBatch)
	}
	c.mu.RLock()
	if c.closed {
		c.mu.RUnlock()
		return pluginapi.Errorf(pluginapi.Unavailable, op, "the store is closed; open another client")
	}
	return nil
}

func (c *client) end() { c.mu.RUnlock() }

// Health answers with the store's clock.
func (c *client) Health(ctx context.Context) (pluginapi.Health, error) {
	if err := c.begin(ctx, "health", 0); err != nil {
		return pluginapi.Health{}, err
	}
	defer c.end()
	return pluginapi.Health{Detail: "in memory", StoreTime: c.data.options.Now()}, nil
}

// Close ends this client; the data and its other clients stay.
func (c *client) Close(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

// Validate refuses every setting: the store has none.
func (s *Store) Validate(_ context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	return pluginapi.Info{
		Kind:       pluginapi.Lease,
		HasHistory: true,
		Guarantee:  "exactly one winner for each slot, until the process ends: then everything is forgotten",
	}, checkSettings(config)
}

// Configure does what Validate does: there is nothing to connect to.
func (s *Store) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	if err := s.begin(ctx, "configure", 0); err != nil {
		return pluginapi.Info{}, err
	}
	defer s.end()
	return s.Validate(ctx, config)
}

// checkSettings reports each setting as unknown. It returns the error type only when there is
// an error, so that a caller's nil is nil.
func checkSettings(config pluginapi.Config) error {
	var settings map[string]json.RawMessage
	if err := pluginapi.DecodeSettings(config, &settings); err != nil {
		return err
	}
	e := &pluginapi.Error{Code: pluginapi.Invalid, Op: "configure"}
	for name := range settings {
		e.Diagnostics = append(e.Diagnostics, pluginapi.Diagnostic{
			Code: "memstore.unknown_setting", Summary: "the memory store has no settings; remove it", Path: pluginapi.Attr(name),
		})
	}
	if len(e.Diagnostics) == 0 {
		return nil
	}
	slices.SortFunc(e.Diagnostics, func(a, b pluginapi.Diagnostic) int {
		if a.Path[0].Name < b.Path[0].Name {
			return -1
		}
		return 1
	})
	return e
}
