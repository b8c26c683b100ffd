package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/jobfile"
)

// BenchmarkLoad reads configurations of many jobs: the time for a job, and what the loaded
// configuration keeps in memory for it.
func BenchmarkLoad(b *testing.B) {
	for _, size := range []struct{ jobs, files int }{{4_000, 1}, {100_000, 100}} {
		b.Run(fmt.Sprintf("jobs=%d/files=%d", size.jobs, size.files), func(b *testing.B) {
			dir := b.TempDir()
			bytes := writeJobs(b, dir, size.jobs, size.files)
			b.SetBytes(int64(bytes))
			before := heap()
			var c *jobfile.Config
			for b.Loop() {
				var ds jobfile.Diagnostics
				if c, ds = jobfile.Load(jobfile.Options{Path: dir}); len(ds) > 0 || len(c.Jobs) != size.jobs {
					b.Fatalf("got %d jobs, %v", len(c.Jobs), ds)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size.jobs), "ns/job")
			b.ReportMetric(float64(heap()-before)/float64(size.jobs), "kept-B/job")
			runtime.KeepAlive(c)
		})
	}
}

// BenchmarkCheck checks the rules of 100 000 loaded jobs.
func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	writeJobs(b, dir, 100_000, 100)
	c, _ := jobfile.Load(jobfile.Options{Path: dir})
	for b.Loop() {
		if ds := c.Check("sqlite", job.Store{Leases: true}); len(ds) > 0 {
			b.Fatal(ds)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/job")
}

// BenchmarkHash hashes a job, as a reload does for each.
func BenchmarkHash(b *testing.B) {
	dir := b.TempDir()
	writeJobs(b, dir, 1, 1)
	c, _ := jobfile.Load(jobfile.Options{Path: dir})
	for b.Loop() {
		c.Jobs[0].Hash()
	}
}

// writeJobs writes jobs of different kinds into files and returns their size.
func writeJobs(b *testing.B, dir string, jobs, files int) int {
	b.Helper()
	size := 0
	for f := range files {
		var text strings.Builder
		for n := f * jobs / files; n < (f+1)*jobs/files; n++ {
			fmt.Fprintf(&text, `job "job-%06d" {
  description = "number %d"
  schedule    = "%d %d * * *"
  time_zone   = "%s"
  max_late    = "5m"
  exec {
    command = ["/usr/bin/work", "--number", "%d"]
    env     = { MODE = "batch" }
  }
}

`, n, n, n%60, n/60%24, []string{"UTC", "Europe/Berlin", "America/New_York"}[n%3], n)
		}
		size += text.Len()
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.hcl", f)), []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return size
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
