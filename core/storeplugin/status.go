package storeplugin

import "time"

// State is where a plugin is in its life; the package's doc draws the ways between them. Its
// text is stable: logs, metrics and the API show it.
type State string

// The states.
const (
	// Starting means that the process is being started.
	Starting State = "starting"
	// Configuring means that the process is up and connects to its backend.
	Configuring State = "configuring"
	// Ready means that calls are answered.
	Ready State = "ready"
	// Degraded means that the process is up and says that its backend isn't well.
	Degraded State = "degraded"
	// Backoff means that the process ended, or couldn't be started, and is started again soon.
	Backoff State = "backoff"
	// Quarantined means that starting it again can't help: somebody must act.
	Quarantined State = "quarantined"
	// Closed means that the Store was closed.
	Closed State = "closed"
)

// Up tells whether calls go through.
func (s State) Up() bool { return s == Ready || s == Degraded }

// Status is the state of a plugin, for people and metrics.
type Status struct {
	// State is where it is.
	State State
	// Reason says why, when it isn't Ready; it holds no secret.
	Reason string
	// Restarts is how often the process was started again.
	Restarts int
	// PID is the process; 0 when there is none.
	PID int
	// Skew is how far the store's clock is ahead of this instance's wall clock, as of the last
	// look at the backend's health; 0 where the store has no clock to read. A reading to show
	// and to warn about, never one to decide by.
	Skew time.Duration
}
