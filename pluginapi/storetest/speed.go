package storetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func speedChecks() []Check {
	return []Check{
		{"P01", "Speed/new_runs", "Measures new runs claimed a second by one caller; never fails for its figures.", anyStore, newRuns},
	}
}

// newRuns claims new runs for a short while with batches of 1 and of the most.
func newRuns(ctx context.Context, t *trial) {
	a, _ := t.pair()
	var figures []string
	for _, size := range []int{1, t.maxBatch()} {
		batch := make([]pluginapi.Claim, size)
		claims, start := 0, time.Now()
		for round := 0; time.Since(start) < 150*time.Millisecond; round++ {
			for i := range batch {
				batch[i] = t.claim(t.job(fmt.Sprintf(".%d.%d.%d", size, round, i)))
			}
			t.claimAll(ctx, a, batch...)
			claims += size
		}
		figures = append(figures, fmt.Sprintf("%.0f claims/s in batches of %d", float64(claims)/time.Since(start).Seconds(), size))
	}
	t.notef("%s", strings.Join(figures, ", "))
}
