package event_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
)

func TestFinal(t *testing.T) {
	for kind, want := range map[event.Kind]bool{
		event.Won: false, event.Started: false,
		event.Finished: true, event.Taken: true, event.Overlap: true, event.Late: true, event.Lost: true,
		event.Released: true, event.Unknown: true, event.Refused: true, event.Stopped: true,
	} {
		if kind.Final() != want {
			t.Errorf("%s.Final() = %t; want %t", kind, kind.Final(), want)
		}
	}
}

// TestBus: every subscriber sees every event from its subscription on, in the publisher's order.
func TestBus(t *testing.T) {
	var bus event.Bus
	var mu sync.Mutex
	seen := make(map[string][]job.Slot)
	bus.Publish(event.Event{Run: job.Run{Job: "before"}})
	for range 2 {
		bus.Subscribe(func(e event.Event) {
			mu.Lock()
			defer mu.Unlock()
			seen[e.Run.Job] = append(seen[e.Run.Job], e.Run.Slot)
		})
	}
	var publishers sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		publishers.Go(func() {
			for slot := range job.Slot(100) {
				bus.Publish(event.Event{Run: job.Run{Job: name, Slot: slot}})
			}
		})
	}
	publishers.Wait()
	for _, name := range []string{"a", "b"} {
		if got := seen[name]; len(got) != 200 || !slices.IsSorted(got) {
			t.Errorf("the subscribers saw %d events of %s, in order: %t; want 200 in order", len(got), name, slices.IsSorted(got))
		}
	}
	if len(seen["before"]) != 0 {
		t.Error("the subscribers saw an event from before their subscription")
	}
}
