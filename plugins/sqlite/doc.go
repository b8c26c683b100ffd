// Package sqlite is the store for instances on one machine: a lease store in an SQLite file.
//
// # Who decides
//
// SQLite has one writer at a time. A claim that may win is decided inside BEGIN IMMEDIATE …
// COMMIT, which holds the write lock from its first moment, so that what it has read can't
// change before it writes. A claim that can't win is answered by one SELECT before that:
// losers write nothing and wait for nobody.
//
// One goroutine writes. All that has come up when it gets the lock, claims, heartbeats and
// finishes of all callers, goes into one transaction: one fsync for all of them. Nothing is
// answered before the COMMIT has returned.
//
// # Clocks
//
// All instances are on one machine, so its clocks are the store's. Whether a claim is late or
// early is read off the wall clock. Leases are counted on CLOCK_BOOTTIME, which no correction
// of the wall clock can move. It begins anew with the machine, so the file also knows the
// kernel's name of the boot: the first process of another boot finds that all leases have
// ended, as their holders have.
//
// # Memory
//
// Of each job's ended runs the oldest ones beyond history_size are deleted, not within ten
// minutes of their end. The newest slot that was so forgotten is kept: at or below it an
// unknown slot is answered late, so forgetting never lets a slot run again.
//
// # When something fails
//
// An error before COMMIT undoes the whole transaction: Unavailable, or Capacity when the disk
// is full. Of a COMMIT that fails for another reason nobody knows whether it reached the disk:
// Ambiguous. A caller that can't wait any longer is told Unavailable while its request waits
// for its turn, and Ambiguous from then on. A row that breaks the schema's rules is an error
// of the claims on its run only. A file that was deleted or replaced is noticed before anything
// is answered from what is left of it. Never is any of this answered as a claim that lost.
package sqlite
