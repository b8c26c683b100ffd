package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// BenchmarkClaims measures fresh claims, all of which win, by so many callers at once:
// through the core's batches, a plugin process and SQLite; and, beside it, the same batches
// straight into the same store in this process. What lies between them is the plugin's cost.
func BenchmarkClaims(b *testing.B) {
	binary := buildPlugin(b)
	for _, callers := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprintf("path=plugin/callers=%d", callers), func(b *testing.B) {
			benchClaims(b, callers, 1, throughPlugin(b, binary))
		})
		size := min(callers, pluginapi.DefaultMaxBatch)
		b.Run(fmt.Sprintf("path=direct/callers=%d", callers), func(b *testing.B) {
			benchClaims(b, 1, size, straight(b))
		})
	}
}

// claimer claims some runs and tells how many of them it won.
type claimer func(ctx context.Context, claims []pluginapi.Claim) (won int, err error)

// benchClaims has so many callers claim b.N fresh runs, a batch of that size at a time.
func benchClaims(b *testing.B, callers, size int, claim claimer) {
	b.Helper()
	var next atomic.Int64
	first := time.Now().UnixMilli()
	var work sync.WaitGroup
	b.ResetTimer()
	for range callers {
		work.Go(func() {
			for {
				begin := int(next.Add(int64(size))) - size
				n := min(size, b.N-begin)
				if n <= 0 {
					return
				}
				if won, err := claim(b.Context(), freshClaims(first, begin, n)); err != nil || won != n {
					b.Errorf("won %d of %d fresh claims: %v", won, n, err)
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}

// freshClaims are n claims of runs that nobody has: of a thousand jobs, a slot a millisecond.
func freshClaims(first int64, begin, n int) []pluginapi.Claim {
	claims := make([]pluginapi.Claim, n)
	for i := range claims {
		k := begin + i
		claims[i] = pluginapi.Claim{
			Job: fmt.Sprintf("job-%03d", k%1000), Slot: pluginapi.Slot(first + int64(k/1000)),
			Token: pluginapi.NewToken(), Instance: "bench",
			Lease: 30 * time.Second, MaxLate: time.Minute, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
		}
	}
	return claims
}

func throughPlugin(b *testing.B, binary string) claimer {
	b.Helper()
	dir, err := os.MkdirTemp("", "a") //nolint:usetesting // short: a socket's path has little room
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	store, err := storeplugin.Open(b.Context(), storeplugin.Options{
		Plugin: binary, Settings: settings(b), Instance: "bench", RuntimeDir: dir, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // one value: Run's
	go func() { ended <- store.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	if _, err := store.Health(b.Context()); err != nil { // it is up
		b.Fatal(err)
	}
	return func(ctx context.Context, claims []pluginapi.Claim) (int, error) {
		won := 0
		for _, c := range claims {
			result, err := store.Claim(ctx, c)
			if err != nil {
				return won, err
			}
			if result.Verdict == pluginapi.Won {
				won++
			}
		}
		return won, nil
	}
}

func straight(b *testing.B) claimer {
	b.Helper()
	store := sqlite.New(slog.New(slog.DiscardHandler))
	if _, err := store.Configure(b.Context(), pluginapi.Config{Settings: settings(b), Instance: "bench"}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return func(ctx context.Context, claims []pluginapi.Claim) (int, error) {
		results, err := store.Claim(ctx, claims)
		won := 0
		for _, result := range results {
			if result.Verdict == pluginapi.Won {
				won++
			}
		}
		return won, err
	}
}

func settings(b *testing.B) json.RawMessage {
	b.Helper()
	text, err := json.Marshal(map[string]string{"path": filepath.Join(b.TempDir(), "bench.db")})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func buildPlugin(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "anarchon-plugin-sqlite")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", binary,
		"github.com/anarchon-scheduler/anarchon/plugins/sqlite/cmd/anarchon-plugin-sqlite")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the plugin: %v\n%s", err, out)
	}
	return binary
}
