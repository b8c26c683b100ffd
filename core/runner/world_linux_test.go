package runner_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// hangs is how long a test waits for what must happen before it fails. Nothing is measured
// against it.
const hangs = time.Minute

// trials is how often what depends on who is faster is tried.
const trials = 20

// shell is an attempt that runs a script.
func shell(script string) runner.Spec {
	return runner.Spec{
		Command: []string{"sh", "-c", script},
		Run:     job.Run{Job: "backup", Slot: 1764639000000},
		Attempt: 1, Instance: "here", KillAfter: hangs,
	}
}

// run runs an attempt that must be possible.
func run(t *testing.T, spec runner.Spec) runner.Result {
	t.Helper()
	result, err := runner.Run(t.Context(), spec, nil)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return result
}

func wantOutcome(t *testing.T, got runner.Result, want pluginapi.Outcome, detail string) {
	t.Helper()
	if got.Outcome != want || !strings.Contains(got.Detail, detail) || (detail == "") != (got.Detail == "") {
		t.Errorf("got %s, %q; want %s, with %q\noutput: %.300s", got.Outcome, got.Detail, want, detail, got.Output.Head)
	}
}

// attempt is an attempt that is running, and whose output a test reads meanwhile.
type attempt struct {
	t      *testing.T
	lines  *bufio.Reader
	pid    chan int // gets the command's process when it runs
	ended  chan struct{}
	result runner.Result // valid once ended is closed
	err    error
}

func start(ctx context.Context, t *testing.T, spec runner.Spec, lease runner.Lease) *attempt {
	t.Helper()
	reader, writer := io.Pipe()
	a := &attempt{t: t, lines: bufio.NewReader(reader), pid: make(chan int, 1), ended: make(chan struct{})}
	spec.Output = writer
	spec.Started = func(pid int) { a.pid <- pid }
	var running sync.WaitGroup
	running.Go(func() {
		defer close(a.ended)
		a.result, a.err = runner.Run(ctx, spec, lease)
		_ = writer.Close()
	})
	t.Cleanup(func() {
		_ = reader.Close() // a test that failed may not have read it all
		running.Wait()
	})
	return a
}

// line returns the command's next line of output.
func (a *attempt) line() string {
	a.t.Helper()
	line, err := a.lines.ReadString('\n')
	if err != nil {
		a.t.Fatalf("the output ended (%v) after %q", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

// process returns the live process whose id is the command's next line.
func (a *attempt) process() process {
	a.t.Helper()
	return open(a.t, a.line())
}

// end waits for the end of Run and returns its result.
func (a *attempt) end() runner.Result {
	a.t.Helper()
	_, _ = io.Copy(io.Discard, a.lines)
	select {
	case <-a.ended:
	case <-time.After(hangs):
		a.t.Fatal("Run didn't return")
	}
	if a.err != nil {
		a.t.Fatalf("Run: %v", a.err)
	}
	return a.result
}

// process is a process that was alive when it was opened.
type process struct {
	t   *testing.T
	pid int
	fd  int
}

func open(t *testing.T, id string) process {
	t.Helper()
	pid, err := strconv.Atoi(id)
	if err != nil {
		t.Fatalf("want a process id, got %q", id)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("open process %d: %v", pid, err)
	}
	t.Cleanup(func() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		_ = unix.Close(fd)
	})
	return process{t: t, pid: pid, fd: fd}
}

// dead tells whether the process has ended by now.
func (p process) dead() bool { return p.poll(0) }

// die waits for the process's end and returns when it was seen, on CLOCK_BOOTTIME.
func (p process) die() time.Duration {
	p.t.Helper()
	if !p.poll(int(hangs.Milliseconds())) {
		p.t.Fatalf("process %d lives", p.pid)
	}
	return boottime.Now()
}

func (p process) poll(timeout int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, timeout)
		if !errors.Is(err, unix.EINTR) {
			return n == 1
		}
	}
}

func (p process) signal(signal unix.Signal) {
	p.t.Helper()
	if err := unix.PidfdSendSignal(p.fd, signal, nil, 0); err != nil {
		p.t.Fatalf("signal process %d: %v", p.pid, err)
	}
}

// parent returns the process's parent.
func (p process) parent() process {
	p.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return open(p.t, strings.Fields(rest)[1])
}

func wantDead(t *testing.T, processes ...process) {
	t.Helper()
	for i, p := range processes {
		if !p.dead() {
			t.Errorf("process %d of %d (%d) is alive after the end of the attempt", i+1, len(processes), p.pid)
		}
	}
}

// gate is what a script waits at, with `read x <"$GATE"`, until the test opens it.
type gate string

func newGate(t *testing.T) gate {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gate")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return gate(path)
}

func (g gate) env() map[string]string { return map[string]string{"GATE": string(g)} }

func (g gate) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(string(g), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
}

// lease is a lease that a test extends.
type lease struct {
	mu       sync.Mutex // guards deadline
	deadline time.Duration
	grace    time.Duration
	extended chan struct{}
}

func newLease(left, grace time.Duration) *lease {
	return &lease{deadline: boottime.Now() + left, grace: grace, extended: make(chan struct{}, 1)}
}

func (l *lease) Deadline() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

func (l *lease) Grace() time.Duration { return l.grace }

func (l *lease) Extended() <-chan struct{} { return l.extended }

func (l *lease) extend(left time.Duration) {
	l.mu.Lock()
	l.deadline = boottime.Now() + left
	l.mu.Unlock()
	l.extended <- struct{}{}
}
