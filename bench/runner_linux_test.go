package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// TestMain lets the runner start its shims from this binary.
func TestMain(m *testing.M) {
	if runner.IsShim(os.Args) {
		os.Exit(runner.ShimMain())
	}
	os.Exit(m.Run())
}

// BenchmarkAttempt runs /bin/true, under a shim and, beside it, straight: the time for an
// attempt, and until its process runs. What lies between them is what it costs that a job
// leaves nothing behind.
func BenchmarkAttempt(b *testing.B) {
	spec := runner.Spec{Command: []string{"/bin/true"}}
	shim := func(started func(int)) error {
		spec := spec
		spec.Started = started
		if result, err := runner.Run(b.Context(), spec, nil); err != nil || result.Outcome != pluginapi.Succeeded {
			return fmt.Errorf("%s, %w", result.Detail, err)
		}
		return nil
	}
	straight := func(started func(int)) error {
		cmd := exec.CommandContext(b.Context(), spec.Command[0])
		if err := cmd.Start(); err != nil {
			return err
		}
		started(cmd.Process.Pid)
		return cmd.Wait()
	}
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("path=shim/callers=%d", callers), func(b *testing.B) { benchAttempts(b, callers, shim) })
		b.Run(fmt.Sprintf("path=straight/callers=%d", callers), func(b *testing.B) { benchAttempts(b, callers, straight) })
	}
}

// benchAttempts has so many callers make b.N attempts.
func benchAttempts(b *testing.B, callers int, attempt func(started func(int)) error) {
	b.Helper()
	var left, waited atomic.Int64
	left.Store(int64(b.N))
	var running sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range callers {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				began := time.Now()
				if err := attempt(func(int) { waited.Add(int64(time.Since(began))) }); err != nil {
					b.Error(err)
				}
			}
		})
	}
	running.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "attempts/s")
	b.ReportMetric(float64(waited.Load())/float64(b.N)/1e6, "ms-to-start")
}

// BenchmarkRunning holds 100 attempts that do nothing: what a running attempt costs in memory,
// in its shim (its part of what all shims share included) and in the core. It measures no time.
func BenchmarkRunning(b *testing.B) {
	const attempts = 100
	for b.Loop() {
		before := heap()
		var running sync.WaitGroup
		pids := make(chan int)
		spec := runner.Spec{Command: []string{"sleep", "1000"}, Timeout: time.Hour, Started: func(pid int) { pids <- pid }}
		ctx, stop := context.WithCancel(b.Context())
		for range attempts {
			running.Go(func() {
				if _, err := runner.Run(ctx, spec, nil); err != nil {
					b.Error(err)
				}
			})
		}
		shims := 0
		for range attempts {
			shims += pss(b, parentOf(b, <-pids))
		}
		b.ReportMetric(float64(shims)/attempts, "shim-KiB/attempt")
		b.ReportMetric((float64(heap())-float64(before))/attempts/1024, "core-KiB/attempt")
		stop()
		running.Wait()
	}
}

// parentOf returns the parent of a process, which is its shim.
func parentOf(b *testing.B, pid int) int {
	b.Helper()
	return field(b, fmt.Sprintf("/proc/%d/status", pid), "PPid:")
}

// pss returns a process's memory in KiB, with its part of what it shares with others.
func pss(b *testing.B, pid int) int {
	b.Helper()
	return field(b, fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
}

// field returns the number that follows a name at the beginning of a line.
func field(b *testing.B, path, name string) int {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		b.Fatalf("%s has no %s", path, name)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		b.Fatal(err)
	}
	return n
}
