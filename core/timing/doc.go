// Package timing says when a slot becomes due on this instance.
//
// The schedule gives a job's slots. This package draws a delay from [0, jitter] for each, waits,
// and hands the slot over once the wall clock has really reached slot + delay. It decides nothing
// else: whether the slot is this instance's is the store's answer.
//
// # Clocks
//
// Slots live on the wall clock, which may be stepped and which goes on while a machine sleeps. Go's
// timers run on the monotonic clock, which does neither. So no timer is ever set for more than a
// minute, and at each wake the wall clock is read again (semantics §4.6). Where the system tells
// that its clock was set or that it has slept, the engine looks at once.
//
// Each job has a cursor, which only moves forward: a slot that was handed over or skipped never
// comes again, whatever the clock does, also when its job is changed, disabled or taken away and
// comes back within a day. The price: after a clock that was put forward has been put right again,
// a job waits until the clock is where its cursor is. The other instances run it meanwhile.
//
// A slot that is more than max_late behind when its turn comes isn't handed over. The engine doesn't
// walk through all that it slept through: it goes on with the job's first slot that isn't late and
// reports what lies between as one [Skipped].
//
// # Shape
//
// Jobs are spread over shards. A shard is one goroutine with one timer, its own random source, and
// a heap of the instants that its jobs wait for, in flat arrays. What is hot belongs to that
// goroutine alone: handing a slot over and arming the job again locks and allocates nothing. A new
// set of jobs is compared with the old one by whoever brings it; the shard only takes over the
// result, between two batches.
package timing
