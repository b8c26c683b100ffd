package sqlite

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Store is an SQLite file as a lease store. [New] makes it.
type Store struct {
	log     *slog.Logger
	machine machine

	mu     sync.RWMutex // guards what follows; read-held by calls under way, so that Close waits for them
	db     *database    // nil unless configured
	writer *writer
	config settings
	closed bool
}

var _ pluginapi.LeaseStore = (*Store)(nil)

// New returns a store that isn't configured yet. It opens nothing.
func New(log *slog.Logger) *Store { return &Store{log: log, machine: thisMachine()} }

// Validate checks the settings; see pluginapi.Store. It looks at no file.
func (*Store) Validate(_ context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	s, err := parse(config)
	if err != nil {
		return pluginapi.Info{}, err
	}
	return s.info(), nil
}

// Configure opens the file, and creates it if there is none; see pluginapi.Store. The store
// then has a goroutine that writes, until Close. Settings other than those of the first time
// are Invalid: the runs under way are in the file that is open.
func (s *Store) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	parsed, err := parse(config)
	if err != nil {
		return pluginapi.Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return pluginapi.Info{}, errClosed("configure")
	case s.db != nil && s.config == parsed:
		return parsed.info(), s.db.check()
	case s.db != nil:
		return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Invalid, "configure", "the settings of an open store can't be changed; restart the instance")
	}
	db, err := open(ctx, parsed, s.machine)
	if err != nil {
		return pluginapi.Info{}, err
	}
	s.db, s.writer, s.config = db, newWriter(db, parsed.HistorySize, s.machine.now), parsed
	go s.writer.run(context.WithoutCancel(ctx))
	s.log.InfoContext(ctx, "database open", slog.String("path", db.path), slog.String("synchronous", parsed.Synchronous))
	return parsed.info(), nil
}

func errClosed(op string) *pluginapi.Error {
	return pluginapi.Errorf(pluginapi.Unavailable, op, "the store is closed; open another one")
}

// begin starts a call of so many items, and keeps the store open until done is called.
func (s *Store) begin(ctx context.Context, op string, items int) (done func(), err error) {
	if items > pluginapi.DefaultMaxBatch {
		return nil, pluginapi.Errorf(pluginapi.Invalid, op, "a batch of %d: at most %d are allowed; send it in parts", items, pluginapi.DefaultMaxBatch)
	}
	s.mu.RLock()
	switch {
	case s.closed:
		err = errClosed(op)
	case s.db == nil:
		err = pluginapi.Errorf(pluginapi.Unavailable, op, "the store isn't configured yet")
	case ctx.Err() != nil:
		err = fault(op, s.db.path, ctx.Err())
	default:
		return s.mu.RUnlock, nil
	}
	s.mu.RUnlock()
	return nil, err
}

// Health reads from the file; see pluginapi.Store.
func (s *Store) Health(ctx context.Context) (pluginapi.Health, error) {
	done, err := s.begin(ctx, "health", 0)
	if err != nil {
		return pluginapi.Health{}, err
	}
	defer done()
	if err := s.db.check(); err != nil {
		return pluginapi.Health{}, err
	}
	start := time.Now()
	var version string
	err = s.db.read.QueryRowContext(ctx, "SELECT sqlite_version() FROM meta").Scan(&version)
	if err != nil {
		return pluginapi.Health{}, fault("health", s.db.path, err)
	}
	return pluginapi.Health{
		Detail:    "SQLite " + version + ", synchronous " + s.config.Synchronous,
		RoundTrip: time.Since(start),
		StoreTime: s.machine.now().wall,
	}, nil
}

// Close waits for calls under way and closes the file; see pluginapi.Store.
func (s *Store) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.db == nil {
		return nil
	}
	s.writer.close()
	err := s.db.close()
	s.db = nil
	return err
}
