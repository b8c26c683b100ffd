package runner_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// deaf is a script that SIGTERM doesn't end, nor that of its child.
const deaf = `trap '' TERM; sleep 1000 & echo $!; echo $$; wait; while :; do sleep 1000; done`

func TestTimeout(t *testing.T) {
	t.Run("SIGTERM_ends_it", func(t *testing.T) {
		t.Parallel()
		spec := shell("sleep 1000")
		spec.Timeout = 50 * time.Millisecond
		got := run(t, spec)
		wantOutcome(t, got, pluginapi.TimedOut, "stopped at its time limit of 50ms; killed by SIGTERM")
		if got.ExitCode != 143 {
			t.Errorf("got exit code %d, want 143", got.ExitCode)
		}
	})
	t.Run("SIGKILL_ends_who_ignores_it", func(t *testing.T) {
		t.Parallel()
		spec := shell(deaf)
		spec.Timeout, spec.KillAfter = 2*time.Second, 100*time.Millisecond
		began := boottime.Now()
		a := start(t.Context(), t, spec, nil)
		child, main := a.process(), a.process()
		if at := min(child.die(), main.die()); at < began+spec.Timeout+spec.KillAfter {
			t.Errorf("killed after %s, before its time", at-began)
		}
		wantOutcome(t, a.end(), pluginapi.TimedOut, "killed by SIGKILL")
	})
	t.Run("exit_0_after_it_is_no_success", func(t *testing.T) {
		t.Parallel()
		spec := shell("trap 'exit 0' TERM; sleep 1000 & wait")
		spec.Timeout = time.Second
		wantOutcome(t, run(t, spec), pluginapi.TimedOut, "exit status 0")
	})
}

func TestStop_SIGTERM_to_the_whole_tree(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := start(ctx, t, shell(`exec 2>/dev/null # shells talk about signals
		trap : TERM
		setsid sh -c 'trap "echo session; exit" TERM; echo up; while :; do sleep 0.01; done' &
		sh -c 'trap "echo child; exit" TERM; echo up; while :; do sleep 0.01; done' &
		wait; wait; wait; exit 9`), nil)
	if got := [2]string{a.line(), a.line()}; got != [2]string{"up", "up"} {
		t.Fatalf("got %v", got)
	}
	cancel()
	if got := [2]string{a.line(), a.line()}; got != [2]string{"session", "child"} && got != [2]string{"child", "session"} {
		t.Errorf("got %v, want a word of each child at SIGTERM", got)
	}
	wantOutcome(t, a.end(), pluginapi.Interrupted, "exit status 9")
}

func TestStop_SIGTERM_reaches_who_is_stopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := start(ctx, t, shell("echo $$; exec sleep 1000"), nil)
	a.process().signal(unix.SIGSTOP)
	cancel()
	wantOutcome(t, a.end(), pluginapi.Interrupted, "killed by SIGTERM")
}

func TestStop_SIGKILL_after_KillAfter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spec := shell(deaf)
	spec.KillAfter = 100 * time.Millisecond
	a := start(ctx, t, spec, nil)
	child, main := a.process(), a.process()
	stopped := boottime.Now()
	cancel()
	if at := min(child.die(), main.die()); at < stopped+spec.KillAfter {
		t.Errorf("killed %s after the request, before its time", at-stopped)
	}
	wantOutcome(t, a.end(), pluginapi.Interrupted, "killed by SIGKILL")
}

func TestLease(t *testing.T) {
	t.Run("SIGTERM_grace_before_its_end", func(t *testing.T) {
		t.Parallel()
		l := newLease(hangs, hangs-2*time.Second)
		a := start(t.Context(), t, shell("sleep 1000 & echo $!; wait"), l)
		if at := a.process().die(); at < l.Deadline()-l.Grace() {
			t.Errorf("stopped %s before its time", l.Deadline()-l.Grace()-at)
		}
		wantOutcome(t, a.end(), pluginapi.Interrupted, "stopped before the end of the run's lease; killed by SIGTERM")
	})
	t.Run("SIGKILL_at_its_end", func(t *testing.T) {
		t.Parallel()
		l := newLease(4*time.Second, time.Second)
		a := start(t.Context(), t, shell(deaf), l)
		child, main := a.process(), a.process()
		if at := min(child.die(), main.die()); at < l.Deadline() {
			t.Errorf("killed %s before its time", l.Deadline()-at)
		}
		wantOutcome(t, a.end(), pluginapi.Interrupted, "killed by SIGKILL")
	})
	t.Run("KillAfter_doesn't_outlast_it", func(t *testing.T) {
		t.Parallel()
		l := newLease(3*time.Second, time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := start(ctx, t, shell(deaf), l) // its KillAfter is as long as a test may take
		a.line()
		cancel()
		wantOutcome(t, a.end(), pluginapi.Interrupted, "killed by SIGKILL")
		if now := boottime.Now(); now < l.Deadline() {
			t.Errorf("killed %s before its time", l.Deadline()-now)
		}
	})
	t.Run("extension_keeps_it_alive", func(t *testing.T) {
		t.Parallel()
		l := newLease(3*time.Second, 500*time.Millisecond)
		first := l.Deadline()
		gate := newGate(t)
		spec := shell(`echo $$; read x <"$GATE"; echo done`)
		spec.Env = gate.env()
		a := start(t.Context(), t, spec, l)
		main := a.process()
		l.extend(hangs)
		<-time.After(first - boottime.Now())
		if main.dead() {
			t.Error("it is dead at the end of the lease that was extended")
		}
		gate.open(t)
		wantOutcome(t, a.end(), pluginapi.Succeeded, "")
	})
	t.Run("extended_again_and_again", func(t *testing.T) {
		t.Parallel()
		l := newLease(2*time.Second, 200*time.Millisecond)
		began := l.Deadline()
		a := start(t.Context(), t, shell(`echo up; sleep 1000`), l)
		a.line()
		for boottime.Now() < began+time.Second {
			l.extend(2 * time.Second)
			<-time.After(100 * time.Millisecond)
		}
		wantOutcome(t, a.end(), pluginapi.Interrupted, "stopped before the end of the run's lease")
		if now := boottime.Now(); now < l.Deadline()-l.Grace() {
			t.Errorf("stopped %s before its time", l.Deadline()-l.Grace()-now)
		}
	})
	t.Run("about_to_end:_not_started", func(t *testing.T) {
		t.Parallel()
		spec := shell("exit 0")
		spec.Started = func(int) { t.Error("the command was started") }
		got, err := runner.Run(t.Context(), spec, newLease(hangs, hangs))
		if err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, got, pluginapi.Interrupted, "not started: the run's lease was about to end")
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		l := &lease{extended: make(chan struct{}, 1)}
		l.extended <- struct{}{}
		got, err := runner.Run(t.Context(), shell("exit 0"), l)
		if err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, got, pluginapi.Succeeded, "")
	})
}

// A shim isn't what a signal to the whole service is meant for.
func TestShim_outlives_signals_to_all(t *testing.T) {
	gate := newGate(t)
	spec := shell(`echo $$; read x <"$GATE"`)
	spec.Env = gate.env()
	a := start(t.Context(), t, spec, nil)
	shim := a.process().parent()
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		shim.signal(s)
	}
	gate.open(t)
	wantOutcome(t, a.end(), pluginapi.Succeeded, "")
}
