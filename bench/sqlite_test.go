package bench_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// openSQLite returns a store on a file of its own.
func openSQLite(b *testing.B, synchronous string) *sqlite.Store {
	b.Helper()
	settings, err := json.Marshal(map[string]any{"path": filepath.Join(b.TempDir(), "bench.db"), "synchronous": synchronous})
	if err != nil {
		b.Fatal(err)
	}
	store := sqlite.New(slog.New(slog.DiscardHandler))
	if _, err := store.Configure(b.Context(), pluginapi.Config{Settings: settings}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(b.Context()); err != nil {
			b.Error(err)
		}
	})
	return store
}

// claims makes a batch of claims on new runs: each batch has a slot of its own, each claim in
// it a job of its own.
func claims(start time.Time, batch, size int) []pluginapi.Claim {
	made := make([]pluginapi.Claim, size)
	for i := range made {
		made[i] = pluginapi.Claim{
			Job: "job-" + strconv.Itoa(i), Slot: pluginapi.SlotOf(start) + pluginapi.Slot(batch), Token: pluginapi.NewToken(),
			Instance: "bench", Lease: 30 * time.Second, MaxLate: time.Hour, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
		}
	}
	return made
}

func reportRate(b *testing.B, what string, n int) {
	b.Helper()
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), what+"/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSQLiteClaims is how many new runs one caller wins a second, straight in the store.
func BenchmarkSQLiteClaims(b *testing.B) {
	for _, synchronous := range []string{"full", "normal"} {
		for _, size := range []int{1, 16, 64, 256} {
			b.Run(fmt.Sprintf("%s/batch=%d", synchronous, size), func(b *testing.B) {
				store, start, n := openSQLite(b, synchronous), time.Now().Add(-time.Minute), 0
				for b.Loop() {
					results, err := store.Claim(b.Context(), claims(start, n, size))
					if err != nil || results[size-1].Verdict != pluginapi.Won {
						b.Fatal(results, err)
					}
					n++
				}
				reportRate(b, "claims", n*size)
			})
		}
	}
}

// BenchmarkSQLiteLosers is how many claims of runs that are taken one caller has answered.
func BenchmarkSQLiteLosers(b *testing.B) {
	for _, size := range []int{1, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			store, batch, n := openSQLite(b, "full"), claims(time.Now(), 0, size), 0
			if _, err := store.Claim(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			for i := range batch {
				batch[i].Token = pluginapi.NewToken()
			}
			for b.Loop() {
				results, err := store.Claim(b.Context(), batch)
				if err != nil || results[size-1].Verdict != pluginapi.Running {
					b.Fatal(results, err)
				}
				n++
			}
			reportRate(b, "claims", n*size)
		})
	}
}

// BenchmarkSQLiteRuns is whole runs: a claim, a heartbeat and a finish, in batches.
func BenchmarkSQLiteRuns(b *testing.B) {
	const size = 256
	store, start, n := openSQLite(b, "full"), time.Now().Add(-time.Minute), 0
	for b.Loop() {
		batch := claims(start, n, size)
		beats, ends := make([]pluginapi.Heartbeat, size), make([]pluginapi.Finish, size)
		for i, c := range batch {
			beats[i] = pluginapi.Heartbeat{Job: c.Job, Slot: c.Slot, Token: c.Token, Lease: c.Lease}
			ends[i] = pluginapi.Finish{Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: pluginapi.Succeeded}
		}
		_, claimErr := store.Claim(b.Context(), batch)
		_, beatErr := store.Heartbeat(b.Context(), beats)
		results, endErr := store.Finish(b.Context(), ends)
		if claimErr != nil || beatErr != nil || endErr != nil || results[size-1].Verdict != pluginapi.Done {
			b.Fatal(claimErr, beatErr, endErr)
		}
		n++
	}
	reportRate(b, "runs", n*size)
}
