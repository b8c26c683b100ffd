package sqlite

import (
	"context"
	"log/slog"
	"time"
)

// Machine lets tests change what the store sees of the machine. Nil fields are the real thing.
type Machine struct {
	Now        func() (wall time.Time, boot time.Duration)
	BootID     func() (string, error)
	FileSystem func(dir string) (string, error)
}

// NewOn is New on another machine.
func NewOn(log *slog.Logger, m Machine) *Store {
	s := New(log)
	if m.Now != nil {
		s.machine.now = func() instant {
			wall, boot := m.Now()
			return instant{wall: wall, boot: boot}
		}
	}
	if m.BootID != nil {
		s.machine.bootID = m.BootID
	}
	if m.FileSystem != nil {
		s.machine.fileSystem = m.FileSystem
	}
	return s
}

// Pragma asks the connection that writes; no call may be under way.
func (s *Store) Pragma(ctx context.Context, name string) (value string, err error) {
	query := s.writer.db.write.QueryRowContext
	if s.writer.tx != nil { // it has the one connection
		query = s.writer.tx.conn.QueryRowContext
	}
	err = query(ctx, "PRAGMA "+name).Scan(&value)
	return value, err
}

// BootOffset is bootOffset.
func BootOffset(offsets string) string { return bootOffset(offsets) }
