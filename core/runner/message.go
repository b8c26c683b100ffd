package runner

import "time"

// order is what the shim is told. The first one has Start; later ones the rest.
type order struct {
	Start *startOrder `json:"start,omitempty"`
	// Deadline is the instant on CLOCK_BOOTTIME at which the tree must be dead; 0 means no
	// change.
	Deadline time.Duration `json:"deadline,omitempty"`
	// Stop asks for the command to be stopped.
	Stop bool `json:"stop,omitempty"`
}

// startOrder is what to run, and until when.
type startOrder struct {
	Command   []string      `json:"command"`
	Dir       string        `json:"dir"`
	Env       []string      `json:"env"`
	Timeout   time.Duration `json:"timeout"`
	KillAfter time.Duration `json:"kill_after"`
	Deadline  time.Duration `json:"deadline"` // an instant, as in order
	Grace     time.Duration `json:"grace"`
}

// report is what the shim tells: why the command wasn't started, and nothing else; or first
// the PID, then the end.
type report struct {
	// Error is why the command couldn't be started, where the command is to blame.
	Error string `json:"error,omitempty"`
	// Broken is why the shim couldn't do its work; nothing of the command has run.
	Broken string `json:"broken,omitempty"`
	// PID is the command's process, which is running.
	PID int `json:"pid,omitempty"`
	// Ended tells that no process of the tree is left; the rest says how it ended.
	Ended bool `json:"ended,omitempty"`
	// Exit is the command's exit status, or 128 + Signal.
	Exit int `json:"exit,omitempty"`
	// Signal ended the command; 0 if none did.
	Signal int `json:"signal,omitempty"`
	// Stopped is why the shim told the command to stop, or, without Ended, why it didn't start
	// it; empty if the command ended by itself.
	Stopped reason `json:"stopped,omitempty"`
}

// reason is why a command was told to stop.
type reason string

const (
	byTimeout reason = "timeout"
	byLease   reason = "lease"
	byOrder   reason = "order"
	byOrphan  reason = "orphan" // the core is gone: nobody reads this one
)
