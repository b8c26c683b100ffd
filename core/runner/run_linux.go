package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Run runs one attempt and returns when no process of it is left. When ctx ends, the command
// gets SIGTERM, and SIGKILL after KillAfter; the lease's deadline holds meanwhile. A command
// that can't be started is a result, Failed. An error means that nothing of the command has
// run, for a reason that isn't the command's; the same attempt may be run again. Run may be
// called concurrently.
func Run(ctx context.Context, spec Spec, lease Lease) (Result, error) {
	if IsShim(os.Args) { // else it would start itself for ever
		return Result{}, errors.New("this process is a shim: its main must call runner.ShimMain first")
	}
	select {
	case <-ctx.Done():
		return Result{Outcome: stopped(ctx), Detail: "not started: " + context.Cause(ctx).Error()}, nil
	default:
	}
	start, err := spec.order(time.Now(), lease)
	if err != nil {
		return Result{Outcome: pluginapi.Failed, Detail: err.Error()}, nil //nolint:nilerr // what is wrong with a command is a result
	}
	s, err := startShim(spec)
	if err != nil {
		return Result{}, fmt.Errorf("start the attempt's shim: %w", err)
	}
	s.tell(order{Start: start})
	end := s.supervise(ctx, spec, lease)
	output := s.close(end)
	if end.Broken != "" {
		return Result{}, fmt.Errorf("the attempt's shim: %s", end.Broken)
	}
	result := spec.result(ctx, end)
	result.Output = output
	if last := output.lastLine(spec.Env); last != "" && result.Outcome != pluginapi.Succeeded {
		result.Detail += "; the last line of its output: " + last
	}
	return result, nil
}

// order is what the shim is told to do.
func (s Spec) order(now time.Time, lease Lease) (*startOrder, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	start := &startOrder{
		Command: s.Command, Dir: s.Dir, Env: s.environment(now), Timeout: s.Timeout, KillAfter: s.KillAfter,
	}
	if lease != nil {
		start.Deadline, start.Grace = lease.Deadline(), lease.Grace()
	}
	return start, nil
}

// result turns the shim's last report into how the attempt ended. The exit status of a command
// that was told to stop tells whether it had done its work, but for one that took too long.
func (s Spec) result(ctx context.Context, r report) Result {
	how := fmt.Sprintf("exit status %d", r.Exit)
	if r.Signal != 0 {
		how = "killed by " + signalName(r.Signal)
	}
	failed := Result{Outcome: pluginapi.Failed, ExitCode: r.Exit}
	switch {
	case r.Error != "":
		failed.Detail = r.Error
	case !r.Ended && r.Stopped == byLease:
		failed.Outcome = pluginapi.Interrupted
		failed.Detail = "not started: the run's lease was about to end"
	case !r.Ended:
		failed.Detail = "the attempt's shim was killed, and the command with it"
	case r.Stopped == byTimeout:
		failed.Outcome = pluginapi.TimedOut
		failed.Detail = fmt.Sprintf("stopped at its time limit of %s; %s", s.Timeout, how)
	case r.Exit == 0:
		return Result{Outcome: pluginapi.Succeeded}
	case r.Stopped == byLease:
		failed.Outcome = pluginapi.Interrupted
		failed.Detail = "stopped before the end of the run's lease; " + how
	case r.Stopped == byOrder:
		failed.Outcome = stopped(ctx)
		failed.Detail = fmt.Sprintf("stopped: %s; %s", context.Cause(ctx), how)
	default:
		failed.Detail = how
	}
	return failed
}

// stopped is the outcome of an attempt that was stopped because ctx ended.
func stopped(ctx context.Context) pluginapi.Outcome {
	if errors.Is(context.Cause(ctx), ErrCancelled) {
		return pluginapi.Cancelled
	}
	return pluginapi.Interrupted
}

func signalName(signal int) string {
	if name := unix.SignalName(unix.Signal(signal)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", signal) // a real-time signal
}
