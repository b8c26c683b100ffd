package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/core/timing"
)

// million is as many jobs as the engine is made for.
const million = 1_000_000

// measured is for how long the engine is watched at a rate.
const measured = 8 * time.Second

// newEngine returns an engine on the real clock.
func newEngine(b *testing.B, hand func([]timing.Due)) *timing.Engine {
	b.Helper()
	e, err := timing.New(timing.Options{
		Now:  time.Now,
		Hand: hand,
		Skip: func(s timing.Skipped) { b.Errorf("skipped %+v", s) },
		Log:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// run runs the engine until the result is called.
func run(b *testing.B, e *timing.Engine) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

// waitFor returns once done is true, and has used next to no CPU.
func waitFor(done func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		<-tick.C
	}
}

// names returns as many names of jobs.
func names(many int) []string {
	all := make([]string, many)
	for n := range all {
		all[n] = fmt.Sprintf("team-%02d.job-%06d", n%100, n)
	}
	return all
}

// makeJobs returns a job of each name, with a schedule of its own and the given jitter.
func makeJobs(b *testing.B, names []string, text func(n int) string, jitter time.Duration) []*job.Job {
	b.Helper()
	jobs := make([]*job.Job, len(names))
	for n, name := range names {
		s, err := schedule.Parse(text(n), schedule.Options{Job: name})
		if err != nil {
			b.Fatal(err)
		}
		jobs[n] = &job.Job{Name: name, Enabled: true, Schedule: s, Timing: job.Timing{Jitter: jitter, MaxLate: time.Minute}}
	}
	return jobs
}

// heapInUse returns how many bytes are reachable.
func heapInUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// cpuTime returns how long this process has had a CPU.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTiming_arm arms a million jobs: how long that takes until all wait, and which memory they
// take, with and without the jobs themselves.
func BenchmarkTiming_arm(b *testing.B) {
	all := names(million)
	nightly := func(n int) string { return fmt.Sprintf("%d %d * * *", n%60, n/60%24) }
	for b.Loop() {
		b.StopTimer()
		empty := heapInUse()
		jobs := makeJobs(b, all, nightly, 2*time.Second)
		loaded := heapInUse()
		e := newEngine(b, func([]timing.Due) {})
		b.StartTimer()
		begun, cpu := time.Now(), cpuTime(b)
		e.Set(jobs)
		stop := run(b, e)
		waitFor(func() bool { return e.Stats().Wakes > 0 && e.Stats().Waiting == million })
		b.ReportMetric(time.Since(begun).Seconds()*1000, "ms/arm")
		b.ReportMetric((cpuTime(b)-cpu).Seconds()*1000, "cpu-ms/arm")
		b.StopTimer()
		armed := heapInUse()
		b.ReportMetric((armed-loaded)/million, "timing-B/job")
		b.ReportMetric((armed-empty)/million, "all-B/job")

		again := makeJobs(b, all, nightly, 2*time.Second)
		begun = time.Now()
		e.Set(again)
		b.ReportMetric(time.Since(begun).Seconds()*1000, "ms/reload")
		stop()
		runtime.KeepAlive(jobs)
		b.StartTimer()
	}
}

// BenchmarkTiming_rate hands over slots at a rate, on the real clock: how long after it was due each
// is in the hands of the claims, and what it costs.
func BenchmarkTiming_rate(b *testing.B) {
	for _, rate := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			for b.Loop() {
				atRate(b, rate)
			}
		})
	}
}

func atRate(b *testing.B, rate int) {
	b.Helper()
	// Half of the jobs every even second, half every odd one, each spread over the second by its jitter.
	jobs := makeJobs(b, names(2*rate), func(n int) string { return fmt.Sprintf("@every 2s/%ds", n%2) }, 999*time.Millisecond)
	late := make([]int64, 0, 2*rate*int(measured/time.Second))
	var measuring atomic.Bool
	e := newEngine(b, func(batch []timing.Due) {
		if measuring.Load() {
			now := time.Now().UnixMicro()
			for _, d := range batch {
				late = append(late, now-d.At*1000)
			}
		}
	})
	e.Set(nil) // else the jobs had a look back
	stop := run(b, e)
	e.Set(jobs)
	<-time.After(3 * time.Second)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, begun := cpuTime(b), time.Now()
	measuring.Store(true)
	<-time.After(measured)
	measuring.Store(false)
	cpu, took := cpuTime(b)-cpu, time.Since(begun)
	runtime.ReadMemStats(&after)
	stop()
	slices.Sort(late)
	b.ReportMetric(float64(len(late))/took.Seconds(), "slots/s")
	for name, part := range map[string]float64{"p50": 0.5, "p99": 0.99, "max": 1} {
		b.ReportMetric(float64(late[int(part*float64(len(late)-1))])/1000, name+"-ms")
	}
	b.ReportMetric(100*cpu.Seconds()/took.Seconds(), "cpu-%")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(len(late)), "allocs/slot")
}

// BenchmarkTiming_one_instant hands over a million slots that are due at once: how long that takes.
func BenchmarkTiming_one_instant(b *testing.B) {
	all := names(million)
	for b.Loop() {
		b.StopTimer()
		at := time.Now().Add(8 * time.Second).Truncate(time.Second)
		text := "@at " + at.UTC().Format(time.RFC3339)
		jobs := makeJobs(b, all, func(int) string { return text }, 0)
		handed := 0
		ended := make(chan time.Time)
		e := newEngine(b, func(batch []timing.Due) {
			if handed += len(batch); handed == million {
				ended <- time.Now()
			}
		})
		e.Set(jobs)
		stop := run(b, e)
		cpu := cpuTime(b)
		b.StartTimer()
		b.ReportMetric(float64((<-ended).Sub(at).Microseconds())/1000, "ms/million")
		b.ReportMetric((cpuTime(b)-cpu).Seconds()*1000, "cpu-ms/million")
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}

// BenchmarkTiming_idle has jobs that aren't due: what waiting costs.
func BenchmarkTiming_idle(b *testing.B) {
	for _, many := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			for b.Loop() {
				jobs := makeJobs(b, names(many), func(n int) string { return fmt.Sprintf("%d %d * * *", n%60, n/60%24) }, 2*time.Second)
				e := newEngine(b, func([]timing.Due) {})
				e.Set(nil)
				stop := run(b, e)
				e.Set(jobs)
				<-time.After(time.Second)
				runtime.GC()
				cpu, begun, handed := cpuTime(b), time.Now(), e.Stats().Handed
				<-time.After(2 * measured)
				cpu, took := cpuTime(b)-cpu, time.Since(begun)
				b.ReportMetric(100*cpu.Seconds()/took.Seconds(), "cpu-%")
				b.ReportMetric(float64(e.Stats().Handed-handed), "slots")
				stop()
			}
		})
	}
}
