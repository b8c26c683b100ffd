package schedule

import "time"

// Slot is an instant at which a job is due: milliseconds since the Unix epoch, UTC. Schedules
// only make slots of whole seconds.
type Slot int64

// SlotOf returns the slot at t, cut to the millisecond.
func SlotOf(t time.Time) Slot { return Slot(t.UnixMilli()) }

// Time returns the slot as a time in UTC.
func (s Slot) Time() time.Time { return time.UnixMilli(int64(s)).UTC() }

// seconds returns the last whole second at or before the slot.
func (s Slot) seconds() int64 { return floorDiv(int64(s), 1000) }

// slotAt returns the slot at t, in seconds since the epoch.
func slotAt(t int64) Slot { return Slot(t * 1000) }
