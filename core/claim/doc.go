// Package claim owns one run: it asks the store for it, holds it while it runs, and ends it.
//
// # Who decides
//
// The store does, alone, on its own clock: whether a claim wins, whether a lease lives, and
// whether a claim is late or early. This package never compares one of the store's instants
// with one of its own. It counts a lease down from the moment at which it sent the request
// that got it, on a clock that neither jumps nor stops in a suspend (CLOCK_BOOTTIME). The
// store starts to count later than that, so here the lease always ends first.
//
// # The life of a run on one instance
//
//	asking ──won──▶ holding ──Finish───▶ ended: the outcome is written
//	   │               ├─────Release──▶ given up: another instance goes on
//	   │               └──no heartbeat in time, or fenced──▶ lost
//	   └──▶ taken, overlap, late, unknown, refused, stopped, released
//
// Asking is [Claimer.Acquire] for a slot that is due, and [Claimer.Takeover] for a run whose
// holder's lease has ended, which [Claimer.Watch] finds. Holding is a [Hold]: from the answer
// on it sends heartbeats, and its context ends when the work must stop.
//
// # When messages are lost, doubled, or late
//
// A claim has one token for all its sends. When its answer is lost, it is sent again: the
// store knows the token and answers Won again. So a claim can arrive twice, or late; it wins
// at most once. When there is no answer until the slot is late, the run isn't started here.
// It may be ours in the store; then its lease ends and an instance takes it over. A gate
// store has no takeover: the run is lost there, which is the price of such a store.
//
// A claim that is re-sent after a long silence can be answered Won when little or nothing is
// left of its lease. The work then starts only after a heartbeat has been answered Won.
//
// A heartbeat that is lost is sent again soon. When none succeeds, the work is told to stop
// with time to spare, before the lease ends on the store; see [Hold.Deadline]. A heartbeat
// that arrives twice, or late, extends the lease a little more: that delays a takeover and
// harms nothing. After a takeover it is answered Lost, and the work stops at once.
//
// A finish that is lost is sent again, under the same token and with the same outcome, until
// the store answers: the answer to the first is the answer to all. While it is being sent the
// heartbeats go on, so that a finished run isn't taken over for want of an answer. A finish
// that arrives late, after a takeover, is answered Lost and changes nothing.
//
// A give-up that is lost is sent again too. No heartbeat is under way when it is sent, since
// one that overtakes it would hold the run for a whole lease with nobody at work on it.
//
// # Stopping
//
// When the context of an Acquire ends, a claim that has been sent is still followed up, for a
// few seconds: its run would else wait for the end of a lease that nobody uses. A Won that
// arrives then is given up at once. A gate store can't take it back, so the run is handed
// over to be run. A Hold doesn't end with that context: heartbeats are the last thing to
// stop, or else a draining instance's runs would be started a second time elsewhere.
package claim
