package sqlite

import (
	"context"
	"errors"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// fault turns an error of SQLite, met before anything was committed, into one of the contract.
func fault(op, path string, err error) *pluginapi.Error {
	if e, ok := errors.AsType[*pluginapi.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return pluginapi.Errorf(pluginapi.Unavailable, op, "%s: no answer before the caller's time ran out, and nothing was written: %w", path, err)
	}
	switch primary(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return pluginapi.Errorf(pluginapi.Unavailable, op, "%s: another process held the lock for all of busy_timeout: %w", path, err)
	case lib.SQLITE_FULL:
		return pluginapi.Errorf(pluginapi.Capacity, op, "%s: the disk is full, and nothing was written: %w", path, err)
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return pluginapi.Errorf(pluginapi.Unsupported, op, "%s isn't a sound SQLite database: %w; restore it from a backup, or move it away", path, err)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_AUTH:
		return pluginapi.Errorf(pluginapi.Unavailable, op, "%s: %w; the plugin must be able to write the file and its directory", path, err)
	case lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_INTERRUPT, lib.SQLITE_NOLFS:
		return pluginapi.Errorf(pluginapi.Unavailable, op, "%s: nothing was written: %w", path, err)
	case notSQLite:
		return pluginapi.Errorf(pluginapi.Unavailable, op, "%s: %w", path, err)
	default: // above all SQLITE_ERROR: somebody has changed the schema
		return pluginapi.Errorf(pluginapi.Internal, op, "%s: %w", path, err)
	}
}

// commitFault is fault for COMMIT itself. SQLite rolls back when the disk is full or a lock
// isn't to be had; of anything else nobody knows whether it has reached the disk.
func commitFault(path string, err error) *pluginapi.Error {
	switch primary(err) {
	case lib.SQLITE_FULL, lib.SQLITE_BUSY:
		return fault("commit", path, err)
	default:
		return pluginapi.Errorf(pluginapi.Ambiguous, "commit", "%s: %w", path, err)
	}
}

// rowFault returns the answer to an item whose row breaks the schema's rules, so that SQLite
// refuses to write it, or nil for other errors: those end the transaction.
func rowFault(op, path string, err error) *pluginapi.Error {
	if primary(err) != lib.SQLITE_CONSTRAINT {
		return nil
	}
	return pluginapi.Errorf(pluginapi.Internal, op, "%s: the run's row isn't one that this plugin writes; it is left alone: %w", path, err)
}

// notSQLite stands for errors that have no result code.
const notSQLite = -1

// primary returns SQLite's result code without what the upper bits add, or notSQLite.
func primary(err error) int {
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return notSQLite
	}
	return e.Code() & 0xff
}

// insistPause is the time between two tries of insist.
const insistPause = 5 * time.Millisecond

// insist repeats f as long as the file is busy, until limit has passed or ctx ends. SQLite
// waits for a lock by itself, but not where two processes that wait for each other could be
// the reason: several that switch the log on at once are told so immediately.
func insist(ctx context.Context, limit time.Duration, f func() error) error {
	for end := time.Now().Add(limit); ; {
		err := f()
		if code := primary(err); code != lib.SQLITE_BUSY && code != lib.SQLITE_LOCKED || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(insistPause):
		}
	}
}
