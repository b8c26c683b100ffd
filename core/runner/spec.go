package runner

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// ErrCancelled is the cause of a context that ends because somebody asked for the run to be
// stopped. With any other cause the attempt counts as Interrupted.
var ErrCancelled = errors.New("the run was cancelled")

// Spec is one attempt to run.
type Spec struct {
	// Command is the program and its arguments. A program with a slash is a path, relative to
	// Dir; one without is looked up in the attempt's PATH. No shell is involved.
	Command []string
	// Dir is the working directory; "" is this process's.
	Dir string
	// Env is added to the environment that every attempt gets, and wins over it. Names are
	// letters, digits and _; those that begin with LD_ or ANARCHON_ are refused.
	Env map[string]string
	// Run names the run.
	Run job.Run
	// Attempt is the run's attempt, from 1.
	Attempt int
	// Instance is this instance's name.
	Instance string
	// Timeout is how long the command may take, suspends included; 0 means no limit.
	Timeout time.Duration
	// KillAfter is the time between SIGTERM and SIGKILL when the command is stopped at its
	// Timeout or by the context; 0 gives it none.
	KillAfter time.Duration
	// Started, if not nil, is called from Run's goroutine with the id of the command's process
	// once that runs. It must not block.
	Started func(pid int)
	// Output, if not nil, gets what the command writes, when it does, beside Result.Output. It
	// is called from one goroutine; its errors are ignored, and while it blocks the command's
	// writes do.
	Output io.Writer
}

// Lease is how long the attempt may go on; claim.Hold is one. nil means that nothing bounds it.
type Lease interface {
	// Deadline is the instant on CLOCK_BOOTTIME at which every process of the attempt must be
	// dead; 0 means that there is none.
	Deadline() time.Duration
	// Grace is how long before that the processes are asked to stop.
	Grace() time.Duration
	// Extended gets a value when Deadline has moved on.
	Extended() <-chan struct{}
}

// Result is how an attempt ended. When Run returns it, no process of the attempt is left.
type Result struct {
	// Outcome is Succeeded or Failed when the command ended by itself, or couldn't be started;
	// TimedOut when it was stopped at its Timeout. When the lease or the context stopped it, it
	// is Succeeded if the command exited with 0 all the same; else Interrupted, or Cancelled
	// if the context's cause is [ErrCancelled].
	Outcome pluginapi.Outcome
	// ExitCode is the command's exit status; 128 + n if signal n ended it; 0 if it never ran.
	ExitCode int
	// Detail says more, for people; empty after a success. It may quote the last line of the
	// output, cut, with the values of Spec.Env masked; a secret that the command has from
	// elsewhere and prints there isn't recognised.
	Detail string
	// Output is what the command wrote to its standard output and error.
	Output Output
}

// check finds what can't be run at all.
func (s Spec) check() error {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return errors.New("exec: the command is empty; want a program and its arguments")
	}
	for _, arg := range s.Command {
		if strings.ContainsRune(arg, 0) {
			return errors.New("exec: an argument of the command has a NUL byte, which no program can be given")
		}
	}
	for name, value := range s.Env {
		if err := checkVariable(name, value); err != nil {
			return err
		}
	}
	return nil
}
