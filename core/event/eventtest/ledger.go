// Package eventtest holds a test to the promise that every slot ends in exactly one final event.
package eventtest

import (
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/event"
)

// memory is more turns than any test has.
const memory = 1 << 20

// Ledger subscribes a ledger to the bus and fails the test, when it ends, for each turn that ended
// twice or never. The instance must have stopped by then: what stops it is to be registered
// with tb.Cleanup after the call of Ledger, or deferred.
func Ledger(tb testing.TB, bus *event.Bus) *event.Ledger {
	tb.Helper()
	l := event.NewLedger(memory)
	bus.Subscribe(l.Note)
	tb.Cleanup(func() {
		tb.Helper()
		Check(tb, l)
	})
	return l
}

// Check fails the test for each turn that ended twice, or hasn't ended.
func Check(tb testing.TB, l *event.Ledger) {
	tb.Helper()
	for _, turn := range l.Twice() {
		tb.Errorf("%s ended twice; want exactly one final event", turn)
	}
	for _, turn := range l.Open() {
		tb.Errorf("%s never ended; want exactly one final event", turn)
	}
}
