package instance // from inside: through an instance it would take more than 8192 jobs

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue{limit: 2}
		began := time.Now()
		var mu sync.Mutex
		var ends []time.Duration
		for range 5 {
			q.add(func() {
				<-time.After(time.Second)
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, time.Since(began))
			})
		}
		if got := time.Since(began); got != 0 {
			t.Errorf("add blocked for %s", got)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		want := []time.Duration{time.Second, time.Second, 2 * time.Second, 2 * time.Second, 3 * time.Second}
		if !slices.Equal(ends, want) {
			t.Errorf("got ends at %v; want %v", ends, want)
		}
		if q.active != 0 || len(q.waiting) != 0 {
			t.Errorf("got %d active and %d waiting at the end; want none", q.active, len(q.waiting))
		}
	})
}
