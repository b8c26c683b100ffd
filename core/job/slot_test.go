package job_test

import (
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

func TestParseSlotReadsWhatRunWrites(t *testing.T) {
	for _, slot := range []job.Slot{0, 1, 999, 1000, 1_795_915_800_000, 1_795_915_800_123} {
		name := job.Run{Job: "j", Slot: slot}.String()
		got, err := job.ParseSlot(name[len("j@"):])
		if err != nil || got != slot {
			t.Errorf("ParseSlot of %s = %d, %v; want %d", name, got, err, slot)
		}
	}
	for _, text := range []string{"", "20261202", "20261202T013000", "20261302T013000Z", "20261202T013000.000000Z", "20261202T013000.5Z", "now"} {
		if slot, err := job.ParseSlot(text); err == nil {
			t.Errorf("ParseSlot(%q) = %d; want an error", text, slot)
		}
	}
}
