// Package boottime reads the clock that counts the time since the machine was started.
//
// Go's monotonic clock stands still while a machine is suspended. A lease doesn't: its store
// is elsewhere and counts on. What a holder counts its lease down with is therefore
// CLOCK_BOOTTIME, which neither jumps nor stops.
package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since the machine was started, suspends included. Only differences
// between two readings on one machine mean anything.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return fallback()
	}
	return time.Duration(t.Nano())
}
