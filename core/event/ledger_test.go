package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/event/eventtest"
	"github.com/anarchon-scheduler/anarchon/core/job"
)

// spy is a test that only remembers its failures.
type spy struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (s *spy) Helper()          {}
func (s *spy) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }
func (s *spy) Errorf(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

func own(kind event.Kind, slot job.Slot) event.Event {
	return event.Event{Kind: kind, Run: job.Run{Job: "j", Slot: slot}}
}

func takeover(kind event.Kind, slot job.Slot, attempt int) event.Event {
	e := own(kind, slot)
	e.Takeover, e.Attempt = true, attempt
	return e
}

// TestLedger_one_final_event: a turn that ends twice, or never, fails a test; others don't.
func TestLedger_one_final_event(t *testing.T) {
	tests := map[string]struct {
		due    []job.Slot
		events []event.Event
		want   []string // a part of each failure
	}{
		"nothing":               {},
		"every end":             {events: []event.Event{own(event.Taken, 1000), own(event.Late, 2000), own(event.Stopped, 3000)}},
		"on the way":            {events: []event.Event{own(event.Won, 1000), own(event.Started, 1000), own(event.Finished, 1000)}},
		"ended twice":           {events: []event.Event{own(event.Taken, 1000), own(event.Late, 1000)}, want: []string{"j@19700101T000001Z ended twice"}},
		"won and never ended":   {events: []event.Event{own(event.Won, 1000), own(event.Started, 1000)}, want: []string{"j@19700101T000001Z never ended"}},
		"due and never ended":   {due: []job.Slot{1000, 2000}, events: []event.Event{own(event.Taken, 2000)}, want: []string{"j@19700101T000001Z never ended"}},
		"taken over from here":  {events: []event.Event{own(event.Won, 1000), own(event.Lost, 1000), takeover(event.Won, 1000, 2), takeover(event.Finished, 1000, 2)}},
		"taken over twice":      {events: []event.Event{takeover(event.Won, 1000, 2), takeover(event.Lost, 1000, 2), takeover(event.Won, 1000, 3), takeover(event.Finished, 1000, 3)}},
		"takeover ended twice":  {events: []event.Event{takeover(event.Won, 1000, 2), takeover(event.Lost, 1000, 2), takeover(event.Finished, 1000, 2)}, want: []string{"attempt 2 ended twice"}},
		"takeover never ended":  {events: []event.Event{takeover(event.Won, 1000, 2)}, want: []string{"attempt 2 never ended"}},
		"takeover refused":      {events: []event.Event{takeover(event.Refused, 1000, 0), takeover(event.Refused, 1000, 0)}},
		"an end after its turn": {events: []event.Event{own(event.Won, 1000), own(event.Finished, 1000), own(event.Finished, 1000)}, want: []string{"ended twice"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var bus event.Bus
			s := &spy{TB: t}
			ledger := eventtest.Ledger(s, &bus)
			for _, slot := range test.due {
				ledger.Due(job.Run{Job: "j", Slot: slot})
			}
			for _, e := range test.events {
				bus.Publish(e)
			}
			for _, f := range s.cleanups {
				f()
			}
			matches := slices.EqualFunc(s.failures, test.want, strings.Contains)
			if !matches {
				t.Errorf("the failures are %q; want %q", s.failures, test.want)
			}
		})
	}
}

// TestLedger_totals: an event may stand for many slots.
func TestLedger_totals(t *testing.T) {
	l := event.NewLedger(10)
	many := own(event.Late, 9000)
	many.Count = 7
	for _, e := range []event.Event{own(event.Taken, 1000), own(event.Late, 2000), many} {
		l.Note(e)
	}
	if got := l.Totals(); len(got) != 2 || got[event.Taken] != 1 || got[event.Late] != 8 {
		t.Errorf("Totals() = %v; want 1 taken, 8 late", got)
	}
}

// TestLedger_memory: it recognises the last turns that ended, as many as it was made for.
func TestLedger_memory(t *testing.T) {
	l := event.NewLedger(100)
	for n := range 1000 {
		l.Note(own(event.Won, job.Slot(n)))
		l.Note(own(event.Taken, job.Slot(n)))
	}
	l.Note(own(event.Taken, 899)) // forgotten, and takes the place of 900
	l.Note(own(event.Taken, 901))
	l.Note(own(event.Taken, 999))
	want := []event.Turn{{Run: job.Run{Job: "j", Slot: 901}}, {Run: job.Run{Job: "j", Slot: 999}}}
	if got := l.Twice(); !slices.Equal(got, want) {
		t.Errorf("Twice() = %v; want %v", got, want)
	}
	if got := l.Open(); len(got) != 0 {
		t.Errorf("Open() = %v; want none", got)
	}
}
