package main

import (
	"fmt"
	"io"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// writeSlots lists slots in the schedule's zone and in UTC, with what a zone change does.
func writeSlots(w io.Writer, indent string, s *schedule.Schedule, slots []schedule.Slot) {
	for _, slot := range slots {
		line := s.Zone().Time(slot).Format("Mon 2006-01-02 15:04:05 -07:00")
		if s.Zone().String() != "UTC" {
			line += "  = " + slot.Time().Format(time.RFC3339)
		}
		if note := s.Explain(slot); note != "" {
			line += "  (" + note + ")"
		}
		fmt.Fprintf(w, "%s%s\n", indent, line)
	}
}

// startOf reads the flag --from: slots after that are listed. The default is now.
func startOf(from string) (schedule.Slot, error) {
	if from == "" {
		return schedule.SlotOf(time.Now()), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, from); err == nil {
			return schedule.SlotOf(t), nil
		}
	}
	return 0, invalid(fmt.Errorf("--from %q: want a time like 2026-12-01T12:00:00Z, or a date like 2026-12-01", from))
}
