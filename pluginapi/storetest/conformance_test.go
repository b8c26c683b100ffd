package storetest_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
)

// clock is a wall clock that the suite moves; it also moves by itself, as real ones do.
type clock struct {
	mu     sync.Mutex // guards offset
	offset time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

func memoryTarget() storetest.Target {
	c := &clock{}
	server := memstore.New(memstore.Options{Now: c.Now})
	return storetest.Target{
		New:     func(*slog.Logger) pluginapi.Store { return server.Open() },
		Skewed:  func(*slog.Logger, time.Duration) pluginapi.Store { return server.Open() },
		Advance: c.Advance,
		Bad:     []storetest.BadSettings{{Name: "a setting", Settings: []byte(`{"colour": "red"}`)}},
	}
}

func TestMemstoreConforms(t *testing.T) {
	t.Run("lease, settable clock", func(t *testing.T) { storetest.Run(t, memoryTarget()) })
	t.Run("lease, real clock", func(t *testing.T) {
		target := memoryTarget()
		target.Advance = nil
		storetest.Run(t, target)
	})
	t.Run("lease, short history", func(t *testing.T) {
		server := memstore.New(memstore.Options{History: 10})
		storetest.Run(t, storetest.Target{New: func(*slog.Logger) pluginapi.Store { return server.Open() }})
	})
	t.Run("gate", func(t *testing.T) {
		c := &clock{}
		server := memstore.New(memstore.Options{Now: c.Now}).Gate()
		storetest.Run(t, storetest.Target{
			New:     func(*slog.Logger) pluginapi.Store { return server.Open() },
			Advance: c.Advance,
		})
	})
}
