package pluginapi

import "context"

// Store is what every backend implements. All methods but Configure and Close may be called
// concurrently, by many callers, once Configure has returned without an error.
//
// Batches: Claim takes many claims and answers each of them, in the same order. One claim
// that fails never fails the others: its own [ClaimResult.Err] says so. An error returned by
// the method itself speaks for every item of the batch.
//
// Contexts: a method whose context has ended returns within 100 ms, with an [Ambiguous]
// error if the work may have been, or may still be, executed.
type Store interface {
	// Validate says what the store would give with these settings, and what is wrong with
	// them, without connecting to anything and without any effect. It may be called before
	// Configure, and at any time. Its error, of code [Invalid], carries every problem at once
	// as diagnostics with attribute paths.
	Validate(ctx context.Context, config Config) (Info, error)

	// Configure connects to the backend and makes it ready: it creates or migrates what the
	// store keeps there, and checks the backend for settings that could produce two winners.
	// Many instances may configure the same backend at the same time. Wrong settings are an
	// error of code [Invalid] that carries every problem at once; a backend that can't be
	// reached is [Unavailable]; one that can't keep the promise is [Unsupported]. Calling it
	// again with the same settings changes nothing.
	Configure(ctx context.Context, config Config) (Info, error)

	// Claim asks for runs: the atomic step. Verdicts: Won, Lost (gate stores), Running, Done,
	// Overlap, Late, Early. A re-send with the same token is answered as the first one was,
	// as long as the run is running.
	Claim(ctx context.Context, claims []Claim) ([]ClaimResult, error)

	// Runs reads the history, newest slot first, a page at a time. A store that keeps none
	// says so in [Info.HasHistory] and answers an [Unsupported] error.
	Runs(ctx context.Context, query RunsQuery) (RunsPage, error)

	// Health asks the backend whether it is there. An error of any code means that it isn't.
	Health(ctx context.Context) (Health, error)

	// Close frees what Configure took. It waits for calls under way, and may be called more
	// than once, and without Configure. Calls that come after it fail with [Unavailable].
	Close(ctx context.Context) error
}

// LeaseStore is a store with leases: it knows whether a holder still lives.
type LeaseStore interface {
	Store

	// Heartbeat extends leases, or gives them up. Verdicts: Won (the token is the run's and
	// the lease is extended: it now ends Heartbeat.Lease after the store's now) and Lost (the
	// run isn't running under this token: nothing was changed). A lease that has ended
	// without a takeover can still be extended.
	Heartbeat(ctx context.Context, heartbeats []Heartbeat) ([]HeartbeatResult, error)

	// Finish ends runs. Verdicts: Done (the outcome is written; a re-send with the same token
	// and outcome is answered Done again) and Lost (the run isn't running under this token:
	// nothing was changed). Another outcome under a token whose outcome is already written is
	// an item error of code [Conflict].
	Finish(ctx context.Context, finishes []Finish) ([]FinishResult, error)

	// Expired lists running runs whose lease has ended on the store's clock, ordered by job
	// and slot: one read, however many runs there are. It changes nothing.
	Expired(ctx context.Context, query ExpiredQuery) ([]RunRef, error)
}
