package pluginapi

import (
	"crypto/rand"
	"time"
)

// Slot is an instant at which a job is due: milliseconds since the Unix epoch, UTC. Every
// instance computes the same slots, so (job, slot) names a run everywhere.
type Slot int64

// SlotOf returns the slot at t, cut to the millisecond.
func SlotOf(t time.Time) Slot { return Slot(t.UnixMilli()) }

// Time returns the slot as a time in UTC.
func (s Slot) Time() time.Time { return time.UnixMilli(int64(s)).UTC() }

// Token identifies one try to claim a run; see the package's doc. It is 1 to 128 bytes of
// printable ASCII without spaces, and secret: who knows it can end the run.
type Token string

// NewToken returns a token with at least 128 random bits.
func NewToken() Token { return Token(rand.Text()) }

// Overlap says whether a job may have two live runs at once.
type Overlap int

const (
	// OverlapSkip never lets two runs of a job be live: a claim that would is answered
	// [Overlap]. The default.
	OverlapSkip Overlap = iota
	// OverlapAllow claims each slot whatever the job's other runs do.
	OverlapAllow
)

// Verdict is the answer to one item of a batch. The zero value is no answer: an item with it
// and without an error is a store's fault.
type Verdict int

const (
	// Won means that the run is the caller's, under its token. For a heartbeat: still is.
	Won Verdict = iota + 1
	// Lost means that another token has the run. For a heartbeat or a finish the caller is
	// fenced: it must stop and report nothing more.
	Lost
	// Running means that another holder's lease on the run is live.
	Running
	// Done means that the run has ended and can't be claimed any more. For a finish: the
	// outcome is written.
	Done
	// Overlapping means that another run of the same job is live and the job doesn't allow
	// two. Nothing was written; a takeover is asked again later, a new slot is skipped.
	Overlapping
	// Late means that nobody claimed the slot in time: it is more than MaxLate + [ClockSlack]
	// in the past of the store's clock, or the store has passed it over and can't tell any
	// more whether it was claimed. Nothing was written.
	Late
	// Early means that the slot is more than [ClockSlack] in the future of the store's clock:
	// the caller's clock is fast. Nothing was written; ask again after [ClaimResult.Wait].
	Early
)

// String returns the verdict's name in lower case, as logs and the history show it.
func (v Verdict) String() string {
	switch v {
	case Won:
		return "won"
	case Lost:
		return "lost"
	case Running:
		return "running"
	case Done:
		return "done"
	case Overlapping:
		return "overlap"
	case Late:
		return "late"
	case Early:
		return "early"
	default:
		return "no answer"
	}
}

// ClockSlack is how far a claim's slot may lie beyond MaxLate in the past, or in the future,
// of the store's clock: it covers the offset between the clocks of instances and store
// (semantics §3.1 and §4.3).
const ClockSlack = 10 * time.Second

// Claim asks for the run of one (job, slot).
type Claim struct {
	// Job is the job's name: 1 to 128 bytes of [a-z0-9._:-]. Each store maps it to what its
	// backend allows so that no two jobs ever meet.
	Job string
	// Slot is the run's slot.
	Slot Slot
	// Token is this try's token.
	Token Token
	// Instance is the name of the asking instance, for the history only; at most 128 bytes.
	Instance string
	// Lease is how long the run is the winner's without a heartbeat, on the store's clock; at
	// least 1 ms. Gate stores ignore it.
	Lease time.Duration
	// MaxLate is how long after its slot a run may still be claimed for the first time.
	// It does not bound takeovers, nor re-sends of a claim that won.
	MaxLate time.Duration
	// MaxAttempts is how often the run may be started, the first start included; at least 1.
	// An attempt whose lease was given up isn't counted.
	MaxAttempts int
	// Overlap is the job's overlap rule. Gate stores ignore it.
	Overlap Overlap
}

// ClaimResult answers one claim.
type ClaimResult struct {
	// Verdict is the answer, or 0 when Err is set.
	Verdict Verdict
	// Attempt is the run's attempt, from 1, when the verdict is Won (the caller's), Running or
	// Done; stores that don't know say 0 for the latter two.
	Attempt int
	// LeaseLeft is what is left of the run's lease on the store's clock when it answered, for
	// Won and Running. It can be zero or negative for a Won that answers a re-send: the holder
	// then needs a heartbeat before it may work. 0 on gate stores.
	LeaseLeft time.Duration
	// Wait is, for Early, how long until the store would consider the slot.
	Wait time.Duration
	// Holder is the instance that has or had the run, where the store knows.
	Holder string
	// Err says why this claim has no answer; nil when Verdict is set.
	Err *Error
	// StoreTime is the store's clock when it answered, as a reading to show and to measure
	// skew with; never a value to decide by. Zero where the store has no clock to read.
	StoreTime time.Time
}

// Heartbeat extends, or gives up, the lease of one run.
type Heartbeat struct {
	// Job and Slot name the run.
	Job  string
	Slot Slot
	// Token is the token that won the run.
	Token Token
	// Lease is the new length of the lease, from the store's now. 0 gives the run up: its
	// lease ends at once, another instance can take it over, and the attempt isn't counted
	// against MaxAttempts. The holder must have stopped its work before it gives up.
	Lease time.Duration
}

// HeartbeatResult answers one heartbeat.
type HeartbeatResult struct {
	// Verdict is Won or Lost, or 0 when Err is set.
	Verdict Verdict
	// LeaseLeft is what is left of the lease after a Won.
	LeaseLeft time.Duration
	// Err says why this heartbeat has no answer; nil when Verdict is set.
	Err *Error
}

// Finish ends one run.
type Finish struct {
	// Job and Slot name the run.
	Job  string
	Slot Slot
	// Token is the token that won the run.
	Token Token
	// Outcome is how the run ended.
	Outcome Outcome
	// ExitCode is the exit status of the job's process, where it had one; else 0.
	ExitCode int
	// Detail says more about the outcome for a reader, in at most [MaxDetail] bytes; longer
	// text is cut by the store. It must hold no secret.
	Detail string
}

// MaxDetail is the most bytes of [Finish.Detail] that a store keeps.
const MaxDetail = 1024

// FinishResult answers one finish.
type FinishResult struct {
	// Verdict is Done or Lost, or 0 when Err is set.
	Verdict Verdict
	// Err says why this finish has no answer; nil when Verdict is set.
	Err *Error
}

// Outcome is how a run ended.
type Outcome int

const (
	// Succeeded means that the job did what it should.
	Succeeded Outcome = iota + 1
	// Failed means that the job ran and reported a failure, or couldn't be started.
	Failed
	// TimedOut means that the job was stopped at its time limit.
	TimedOut
	// Cancelled means that somebody asked for the run to be stopped.
	Cancelled
	// Interrupted means that the holder died or was stopped, and no attempt was left.
	Interrupted
)

// String returns the outcome's name as the history shows it, or "" for an unknown value.
func (o Outcome) String() string {
	switch o {
	case Succeeded:
		return "succeeded"
	case Failed:
		return "failed"
	case TimedOut:
		return "timed_out"
	case Cancelled:
		return "cancelled"
	case Interrupted:
		return "interrupted"
	default:
		return ""
	}
}

// ExpiredQuery asks for running runs whose lease has ended.
type ExpiredQuery struct {
	// Jobs limits the answer to these jobs; empty means all.
	Jobs []string
	// After is the last run of the page before; the zero value starts at the beginning.
	After RunRef
	// Limit is the most runs to answer; 0 means 1000. An answer with fewer runs is the last.
	Limit int
}

// RunRef names a run and the attempt that it is in.
type RunRef struct {
	// Job and Slot name the run.
	Job  string
	Slot Slot
	// Attempt is the run's present attempt, from 1; its lease has ended.
	Attempt int
}
