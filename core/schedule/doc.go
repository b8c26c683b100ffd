// Package schedule turns the text of a schedule into slots: the instants at which a job is due.
//
// It is pure arithmetic. It reads no clock and no file of the host, so that every instance finds
// the same slots for the same text for ever: even the time zone data is embedded (see
// [ZoneDataVersion]).
//
// # Readings and slots
//
// A cron expression describes readings: what a clock on the wall shows. A [Slot] is an instant.
// Where the zone's clock is put forward or back, the two don't match one to one:
//
//   - A reading in a gap exists at no instant. [Gap] says what becomes of it. By default it counts
//     with the offset from before the gap, as in RFC 5545: 02:30 becomes 03:30 of the new time, and
//     the run is exactly 24 hours after the last one.
//   - A reading in an overlap exists at two instants. [DSTOverlap] says which of them count. By
//     default only the first does. A schedule that is more an interval than a time of day (its
//     second, minute or hour has a *, ? or /, or all 24 hours) runs in both passes whatever
//     the setting is, so that there is no silent hour and no burst.
//
// Readings that meet at one instant are one slot, and slots strictly increase.
//
// # How the next slot is found
//
// Each field is a bit mask. The matching days of a month are one 31-bit mask, computed from the
// month's length and the weekday of its first day. A zone is a table of periods, each with one
// offset from UTC. Within a period the next slot is the next matching reading less the offset.
package schedule
