// Package broken makes stores that break the contract in one way each: the suite must find
// every one of them. Each fault is a mistake that a real store could make.
package broken

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Fault names the way in which a store is broken; "" is none.
type Fault string

// The faults of stores.
const (
	// TwoWinners looks whether a run is free and takes it in two steps: claims that come at
	// the same time both win.
	TwoWinners Fault = "two_winners"
	// ForgetsTokens doesn't recognise a claim that is sent again.
	ForgetsTokens Fault = "forgets_tokens"
	// FencesNobody takes heartbeats and finishes from anybody.
	FencesNobody Fault = "fences_nobody"
	// IgnoresContexts waits for its backend although its caller has given up.
	IgnoresContexts Fault = "ignores_contexts"
	// TakesOverTwice gives a run to a second backup, although the first one's lease is live.
	TakesOverTwice Fault = "takes_over_twice"
	// FreesEndedRuns frees the claim when the run ends, as a lock on a name would.
	FreesEndedRuns Fault = "frees_ended_runs"
	// ForgetsOldRuns remembers that a slot was claimed only as long as the history has it.
	ForgetsOldRuns Fault = "forgets_old_runs"
	// ClientClock judges leases by the clock of the client's process.
	ClientClock Fault = "client_clock"
	// OtherOrder answers a batch in another order.
	OtherOrder Fault = "other_order"
	// LateForAll asks whether a claim is late before it looks whether the run is known.
	LateForAll Fault = "late_for_all"
	// OverlappingTakeover takes a run over although another run of the job is live.
	OverlappingTakeover Fault = "overlapping_takeover"
	// LastOutcomeWins lets a second finish change the outcome.
	LastOutcomeWins Fault = "last_outcome_wins"
	// ShowsTokens puts tokens into its messages.
	ShowsTokens Fault = "shows_tokens"
)

// World is what the clients of one broken store share, within a process.
type World struct {
	claiming atomic.Int64 // claims under way

	mu   sync.Mutex // guards what follows
	runs map[run]*record
	skew time.Duration // of the client that is asking
	ends map[string]int
}

type run struct {
	job  string
	slot pluginapi.Slot
}

// record is what the wrapper knows of a run.
type record struct {
	winners []pluginapi.Token // in the order of winning; the last one is the holder
	outcome pluginapi.Outcome
	end     int // how many runs of the job had ended when this one did
}

// NewWorld returns a world in which nothing has happened.
func NewWorld() *World { return &World{runs: map[run]*record{}, ends: map[string]int{}} }

// Now is the clock of a store that ClientClock breaks: that of the client that is asking.
func (w *World) Now(clock func() time.Time) time.Time { return clock().Add(w.skew) }

// Break returns a client that is broken by the fault; skew is by how much the clock of its
// process is off.
func (w *World) Break(s pluginapi.LeaseStore, fault Fault, skew time.Duration) pluginapi.LeaseStore {
	return &store{LeaseStore: s, world: w, fault: fault, skew: skew}
}

// wrong changes the right answer to a claim into the fault's.
func (w *World) wrong(fault Fault, c pluginapi.Claim, result *pluginapi.ClaimResult) {
	r := w.runs[run{c.Job, c.Slot}]
	if r == nil { // new, or won by another process of which this world doesn't know
		r = &record{}
	}
	known := slices.Contains(r.winners, c.Token)
	switch {
	case fault == TwoWinners && result.Verdict == pluginapi.Running && w.claiming.Load() > 1,
		fault == TakesOverTwice && result.Verdict == pluginapi.Running && result.Attempt > 1 && !known,
		fault == FreesEndedRuns && result.Verdict == pluginapi.Done && r.outcome != 0,
		fault == ForgetsOldRuns && result.Verdict == pluginapi.Done && w.ends[c.Job]-r.end > 100:
		result.Verdict, result.LeaseLeft = pluginapi.Won, c.Lease
	case fault == ForgetsTokens && result.Verdict == pluginapi.Won && known:
		result.Verdict = pluginapi.Running
	case fault == ShowsTokens && result.Err != nil:
		result.Err = pluginapi.Errorf(result.Err.Code, "claim", "%s (token %s)", result.Err.Msg, c.Token)
	}
	if result.Verdict != pluginapi.Won || known {
		return
	}
	r = w.record(c.Job, c.Slot)
	r.winners = append(r.winners, c.Token)
}

// record returns what is known of a run, from now on at least that there is one.
func (w *World) record(job string, slot pluginapi.Slot) *record {
	r := w.runs[run{job, slot}]
	if r == nil {
		r = &record{}
		w.runs[run{job, slot}] = r
	}
	return r
}
