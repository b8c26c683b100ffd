package pluginapi

import (
	"encoding/json"
	"time"
)

// Kind says what a store can promise. It is known once the settings are, since a backend may
// offer several strategies.
type Kind int

const (
	// Gate stores can only say who was first: no lease, takeover, overlap rule or history of
	// outcomes. A run is claimed at most once; when its holder dies it isn't repeated.
	Gate Kind = iota + 1
	// Lease stores keep leases; they implement [LeaseStore].
	Lease
)

// String returns the kind's name.
func (k Kind) String() string {
	switch k {
	case Gate:
		return "gate"
	case Lease:
		return "lease"
	default:
		return "unknown"
	}
}

// Memory says for how long the store still knows that a slot was claimed. The core refuses
// jobs that could ask after that: jitter + max_late must stay below the memory.
type Memory struct {
	// Window is how long; 0 means as long as a late claim could still ask.
	Window time.Duration
	// MaxRuns is how many runs of a job are known at most; 0 means no such bound.
	MaxRuns int
}

// Limits are a store's limits on batches. Zero values stand for the defaults.
type Limits struct {
	// MaxBatch is the most items of a batch; 0 means [DefaultMaxBatch].
	MaxBatch int
	// MaxInFlight is how many batches the core sends at the same time; 0 means
	// [DefaultMaxInFlight]. A store with a single writer says 1, so that what waits for its
	// turn gathers into one batch.
	MaxInFlight int
}

// The defaults of [Limits].
const (
	DefaultMaxBatch    = 512
	DefaultMaxInFlight = 4
)

// Config is what a store is configured with.
type Config struct {
	// Settings are the user's settings as a JSON object, checked against the plugin's schema:
	// no unknown attribute, every type right, defaults filled in. nil means no settings.
	// [DecodeSettings] turns them into a struct.
	Settings json.RawMessage
	// Instance is the name of the configuring instance; for the backend's logs.
	Instance string
}

// Info is what a store gives with its settings.
type Info struct {
	// Strategy is the name of the way in which the store decides, where it has several.
	Strategy string
	// Kind is what it promises.
	Kind Kind
	// Memory is for how long it remembers.
	Memory Memory
	// Limits are its limits on batches.
	Limits Limits
	// HasHistory tells whether Runs answers.
	HasHistory bool
	// Guarantee says in a sentence what these settings guarantee, and under which fault they
	// don't; `anarchon plan` prints it.
	Guarantee string
	// Warnings are settings of the backend that could produce two winners, or lose a run.
	// Validate may leave out those that only the backend can tell.
	Warnings []Diagnostic
}

// Health is the state of a reachable backend.
type Health struct {
	// Detail is a short text for a person: the server's version, its role.
	Detail string
	// RoundTrip is how long the backend took to answer, on the plugin's monotonic clock.
	RoundTrip time.Duration
	// StoreTime is the store's clock; zero where it has none to read.
	StoreTime time.Time
}
