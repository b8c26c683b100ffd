package timing

import (
	"math"
	"sync/atomic"
	"time"
)

// nothing is the instant that an empty shard waits for.
const nothing = math.MaxInt64

// Stats are an engine's figures since it was made.
type Stats struct {
	// Waiting is how many jobs wait for a slot. Disabled jobs and those without a further slot don't.
	Waiting int
	// Faulty is how many times a job was disabled because its schedule went wrong.
	Faulty int
	// Handed and Skipped count slots. Slots of a [Skipped] with More that weren't counted are missing.
	Handed, Skipped int64
	// Wakes is how often a shard has looked at the clock.
	Wakes int64
	// Lag is for how long the earliest slot that wasn't handed over yet has been due, on this
	// instance's wall clock; 0 when none is. It stays near 0 unless the machine, or Hand, is too slow.
	Lag time.Duration
}

// counters are a shard's part of the [Stats]. Only the shard writes them.
type counters struct {
	waiting, faulty, handed, skipped, wakes atomic.Int64
	earliest                                atomic.Int64 // what the shard waits for, in milliseconds since the epoch
}

// Stats returns the figures of now. It doesn't wait for the shards.
func (e *Engine) Stats() Stats {
	var all Stats
	earliest := int64(nothing)
	for _, s := range e.shards {
		all.Waiting += int(s.count.waiting.Load())
		all.Faulty += int(s.count.faulty.Load())
		all.Handed += s.count.handed.Load()
		all.Skipped += s.count.skipped.Load()
		all.Wakes += s.count.wakes.Load()
		earliest = min(earliest, s.count.earliest.Load())
	}
	if earliest != nothing {
		all.Lag = max(0, e.o.Now().Sub(time.UnixMilli(earliest)))
	}
	return all
}
