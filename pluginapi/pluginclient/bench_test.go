package pluginclient_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

func benchmarkOptions(b *testing.B) pluginclient.Options {
	b.Helper()
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return pluginclient.Options{Path: path, Env: []string{modeEnv + "=good"}}
}

func openForBenchmark(b *testing.B) *pluginclient.Plugin {
	b.Helper()
	plugin, err := pluginclient.Open(b.Context(), benchmarkOptions(b))
	if err != nil {
		b.Fatal(err)
	}
	return plugin
}

// BenchmarkOpen is a start to the first answer, and a stop.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if err := openForBenchmark(b).Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClaim is the way to the plugin and back, with a store in memory at its end.
func BenchmarkClaim(b *testing.B) {
	plugin := openForBenchmark(b)
	b.Cleanup(func() {
		if err := plugin.Close(b.Context()); err != nil {
			b.Log(err) // its context has ended: it was killed
		}
	})
	store, _, err := plugin.Configure(b.Context(), pluginapi.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1, 16, 128, 512} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			claims := make([]pluginapi.Claim, size)
			for i := range claims {
				claims[i] = claimOf(fmt.Sprintf("job-%d", i))
			}
			start := time.Now()
			for b.Loop() {
				if _, err := store.Claim(b.Context(), claims); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size*b.N)/time.Since(start).Seconds(), "claims/s")
		})
	}
}
