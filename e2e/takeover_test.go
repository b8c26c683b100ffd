//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
)

// trials is how often a fault is tried: 20 times in `make e2e-long`.
var trials = map[bool]int{false: 6, true: 20}[long]

// atOnce bounds how many clusters of the trials run at the same time.
var atOnce = make(chan struct{}, 4)

// eachTrial runs f for each trial, a few at a time.
func eachTrial(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for n := range trials {
		t.Run(fmt.Sprintf("trial_%02d", n+1), func(t *testing.T) {
			t.Parallel()
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			f(t)
		})
	}
}

// longJob is due once, soon, and takes as long as d.
func longJob(d time.Duration, extra string) string {
	return fmt.Sprintf(`job "long" {
  at        = %q
  lease     = "6s"
  heartbeat = "1s"
  max_late  = "20s"
  jitter    = "200ms"
  %s
  exec {
    command = %s
  }
}
`, time.Now().Add(4*time.Second).UTC().Truncate(time.Second).Format(time.RFC3339), extra, ticks(d))
}

func named(all []*instance, name string) *instance {
	for _, i := range all {
		if i.name == name {
			return i
		}
	}
	return nil
}

// bound is lease + 2 × heartbeat of longJob.
const bound = 8 * time.Second

func TestKilledHolderIsTakenOverWithinTheBound(t *testing.T) {
	killedHolderIsTakenOver(t, newCluster)
}

// killedHolderIsTakenOver kills the instance that holds a run, in each trial on a cluster of its
// own.
func killedHolderIsTakenOver(t *testing.T, make func(testing.TB, string) *cluster) {
	t.Helper()
	eachTrial(t, func(t *testing.T) {
		c := make(t, longJob(20*time.Second, ""))
		all := c.startAll(3)
		first := c.witness.waitStart(30*time.Second, func(l line) bool { return l.attempt == 1 })
		wait(t, 1500*time.Millisecond) // so that heartbeats have been sent
		holder := named(all, first.instance)
		family := children(holder.pid())
		killed := time.Now()
		holder.kill()
		until(t, 3*time.Second, func() error {
			for _, pid := range family {
				if alive(pid) {
					return fmt.Errorf("process %d of the killed instance lives on", pid)
				}
			}
			return nil
		})
		second := c.witness.waitStart(30*time.Second, func(l line) bool { return l.attempt == 2 })
		if took := second.at.Sub(killed); took > bound {
			t.Errorf("taken over after %s; the bound is %s", took, bound)
		} else {
			t.Logf("taken over after %s", took.Round(time.Millisecond))
		}
		if second.instance == first.instance || second.slot != first.slot {
			t.Errorf("attempt 1 was %+v, attempt 2 is %+v", first, second)
		}
		checkNoOverlap(t, c.witness)
	})
}

// checkNoOverlap fails when an earlier attempt wrote anything after a later one's start.
func checkNoOverlap(t *testing.T, w witness) {
	t.Helper()
	latest := map[string]int{}
	for _, l := range w.lines() {
		run := fmt.Sprint(l.job, l.slot)
		if l.attempt < latest[run] {
			t.Errorf("attempt %d still ran after attempt %d had started: %+v", l.attempt, latest[run], l)
			return
		}
		latest[run] = l.attempt
	}
}

func TestUsedUpAttemptsEndTheRunAsInterrupted(t *testing.T) {
	c := newCluster(t, longJob(60*time.Second, "max_attempts = 2"))
	all := c.startAll(3)
	for attempt := 1; attempt <= 2; attempt++ {
		l := c.witness.waitStart(30*time.Second, func(l line) bool { return l.attempt == attempt })
		named(all, l.instance).kill()
	}
	until(t, 2*bound, func() error {
		runs := c.runs("long")
		if len(runs) != 1 || runs[0].Outcome != "interrupted" || len(runs[0].Attempts) != 2 {
			return fmt.Errorf("the history has %+v; want one interrupted run with 2 attempts", runs)
		}
		return nil
	})
	if n := len(c.witness.starts("long")); n != 2 {
		t.Errorf("%d starts; want 2", n)
	}
}

func TestFrozenHolderIsDeadBeforeTheTakeoverAndFenced(t *testing.T) {
	eachTrial(t, func(t *testing.T) {
		c := newCluster(t, longJob(9*time.Second, ""))
		all := c.startAll(3)
		first := c.witness.waitStart(30*time.Second, func(l line) bool { return l.attempt == 1 })
		holder := named(all, first.instance)
		holder.signal(syscall.SIGSTOP)
		wait(t, 12*time.Second) // 2 × lease
		holder.signal(syscall.SIGCONT)
		holder.waitLog(`"msg":"lost"`, 10*time.Second)
		second := c.witness.waitStart(time.Second, func(l line) bool { return l.attempt == 2 })
		if alive(first.pid) {
			t.Errorf("the first attempt's process %d lives on", first.pid)
		}
		checkNoOverlap(t, c.witness)
		until(t, 40*time.Second, func() error {
			runs := c.runs("long")
			if len(runs) != 1 || runs[0].Outcome != "succeeded" {
				return fmt.Errorf("the history has %+v; want one run, succeeded", runs)
			}
			return nil
		})
		run := c.runs("long")[0]
		if n := len(run.Attempts); n != 2 || run.Attempts[1].Instance != second.instance {
			t.Errorf("the history's attempts are %+v; the second was %s's", run.Attempts, second.instance)
		}
	})
}

func TestDrainLetsTheRunEnd(t *testing.T) {
	c := newCluster(t, longJob(8*time.Second, ""))
	all := c.startAll(3)
	first := c.witness.waitStart(30*time.Second, func(l line) bool { return l.attempt == 1 })
	// Longer than the lease from here: only heartbeats during the drain keep the run.
	if code := named(all, first.instance).stop(20 * time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	run := c.runs("long")
	if len(run) != 1 || run[0].Outcome != "succeeded" || len(run[0].Attempts) != 1 {
		t.Errorf("the history has %+v; want one run, succeeded at its first attempt", run)
	}
}

func TestDrainGivesUpWhatDoesNotEnd(t *testing.T) {
	c := newCluster(t, longJob(20*time.Second, "max_attempts = 1"))
	c.write("agent.hcl", "agent {\n  drain_timeout = \"1s\"\n}\n")
	all := c.startAll(3)
	first := c.witness.waitStart(30*time.Second, func(l line) bool { return l.attempt == 1 })
	asked := time.Now()
	if code := named(all, first.instance).stop(20 * time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	second := c.witness.waitStart(10*time.Second, func(l line) bool { return l.attempt == 2 })
	t.Logf("handed over %s after SIGTERM", second.at.Sub(asked).Round(time.Millisecond))
	checkNoOverlap(t, c.witness)
	if run := c.runs("long"); len(run) != 1 || len(run[0].Attempts) != 2 || !run[0].Attempts[0].Released {
		t.Errorf("the history has %+v; want a first attempt that was given up and isn't counted", run)
	}
}

func TestKilledCoreLeavesNoProcessAndNoSocket(t *testing.T) {
	runtime, err := os.MkdirTemp("", "e2e") // short, as a socket's path must be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(runtime)
	c := newCluster(t, longJob(60*time.Second, ""))
	i := c.start("i1", "XDG_RUNTIME_DIR="+runtime)
	c.witness.waitStart(30*time.Second, func(line) bool { return true })
	family := children(i.pid())
	if len(family) < 3 {
		t.Fatalf("the instance has the processes %v; want a plugin, a shim and the job", family)
	}
	i.kill()
	until(t, 3*time.Second, func() error {
		for _, pid := range family {
			if alive(pid) {
				return fmt.Errorf("process %d lives on: %s", pid, cmdline(pid))
			}
		}
		return nil
	})
}

func cmdline(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%q", data)
}
