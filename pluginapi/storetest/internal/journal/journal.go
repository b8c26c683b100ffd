// Package journal is a store for the suite's own tests: the reference store, replayed in each
// process from one file of requests, so that processes share it and it survives them.
//
// The file is the order of all requests. A process that has a request takes the file's lock,
// replays what the others have written since it last looked, writes the request with the time
// at which it is decided, and decides it. The reference store is deterministic, so every
// process comes to the same state.
package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// Store is one process's view of the file: a [pluginapi.LeaseStore].
type Store struct {
	*memstore.Store

	mu     sync.Mutex // guards what follows
	file   *os.File
	offset int64     // how far the file was replayed
	now    time.Time // when the request that is being decided was, or is, decided
}

var _ pluginapi.LeaseStore = (*Store)(nil)

// entry is one line of the file.
type entry struct {
	Now        time.Time
	Claims     []pluginapi.Claim     `json:",omitempty"`
	Heartbeats []pluginapi.Heartbeat `json:",omitempty"`
	Finishes   []pluginapi.Finish    `json:",omitempty"`
}

// Open opens, or makes, the store in the file at path.
func Open(path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Store{file: file}
	s.Store = memstore.New(memstore.Options{Now: func() time.Time { return s.now }})
	return s, nil
}

// Close closes the file.
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.file.Close()
	if errors.Is(err, os.ErrClosed) { // closed before
		err = nil
	}
	return errors.Join(err, s.Store.Close(ctx))
}

// decide runs f on the state that the file tells, after it has written e; an e without
// requests is only a read.
func (s *Store) decide(ctx context.Context, e entry, f func(ctx context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return pluginapi.AsError("journal", err)
	}
	ctx = context.WithoutCancel(ctx) // what is written must also be decided, here as everywhere
	if err := syscall.Flock(int(s.file.Fd()), syscall.LOCK_EX); err != nil {
		return pluginapi.Errorf(pluginapi.Unavailable, "journal", "lock the file: %w", err)
	}
	defer func() { _ = syscall.Flock(int(s.file.Fd()), syscall.LOCK_UN) }() // only fails on a file that is closed, and so unlocked
	if err := s.replay(ctx); err != nil {
		return pluginapi.Errorf(pluginapi.Unavailable, "journal", "replay: %w", err)
	}
	e.Now = time.Now().Round(0) // what is left when it is read from the file
	if len(e.Claims)+len(e.Heartbeats)+len(e.Finishes) > 0 {
		line, err := json.Marshal(e)
		if err != nil {
			return pluginapi.Errorf(pluginapi.Internal, "journal", "encode: %w", err)
		}
		if _, err := s.file.WriteAt(append(line, '\n'), s.offset); err != nil {
			return pluginapi.Errorf(pluginapi.Ambiguous, "journal", "write: %w", err)
		}
		s.offset += int64(len(line)) + 1
	}
	s.now = e.Now
	return f(ctx)
}

// replay decides what others have written. A last line without its end was being written by
// a process that died: nobody got its answer, so it is cut off.
func (s *Store) replay(ctx context.Context) error {
	if _, err := s.file.Seek(s.offset, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewReader(s.file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return s.file.Truncate(s.offset)
		}
		if err != nil {
			return err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		s.now = e.Now
		s.apply(ctx, e)
		s.offset += int64(len(line))
	}
}

// apply decides again what was decided before. Answers and errors are as they were then, and
// known to who asked.
func (s *Store) apply(ctx context.Context, e entry) {
	_, _ = s.Store.Claim(ctx, e.Claims)
	_, _ = s.Store.Heartbeat(ctx, e.Heartbeats)
	_, _ = s.Store.Finish(ctx, e.Finishes)
}

// Claim decides claims.
func (s *Store) Claim(ctx context.Context, claims []pluginapi.Claim) (results []pluginapi.ClaimResult, err error) {
	err = s.decide(ctx, entry{Claims: claims}, func(ctx context.Context) error {
		results, err = s.Store.Claim(ctx, claims)
		return err
	})
	return results, err
}

// Heartbeat extends leases.
func (s *Store) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) (results []pluginapi.HeartbeatResult, err error) {
	err = s.decide(ctx, entry{Heartbeats: heartbeats}, func(ctx context.Context) error {
		results, err = s.Store.Heartbeat(ctx, heartbeats)
		return err
	})
	return results, err
}

// Finish ends runs.
func (s *Store) Finish(ctx context.Context, finishes []pluginapi.Finish) (results []pluginapi.FinishResult, err error) {
	err = s.decide(ctx, entry{Finishes: finishes}, func(ctx context.Context) error {
		results, err = s.Store.Finish(ctx, finishes)
		return err
	})
	return results, err
}

// Expired lists ended leases.
func (s *Store) Expired(ctx context.Context, query pluginapi.ExpiredQuery) (refs []pluginapi.RunRef, err error) {
	err = s.decide(ctx, entry{}, func(ctx context.Context) error {
		refs, err = s.Store.Expired(ctx, query)
		return err
	})
	return refs, err
}

// Runs reads the history.
func (s *Store) Runs(ctx context.Context, query pluginapi.RunsQuery) (page pluginapi.RunsPage, err error) {
	err = s.decide(ctx, entry{}, func(ctx context.Context) error {
		page, err = s.Store.Runs(ctx, query)
		return err
	})
	return page, err
}

// Health reads the clock.
func (s *Store) Health(ctx context.Context) (health pluginapi.Health, err error) {
	err = s.decide(ctx, entry{}, func(ctx context.Context) error {
		health, err = s.Store.Health(ctx)
		return err
	})
	return health, err
}
