package job

import (
	"fmt"
	"time"
)

// ParseSlot reads the part of a run's name after the @, as [Run.String] writes it.
func ParseSlot(text string) (Slot, error) {
	for _, layout := range []string{slotLayout, slotLayoutMillis} {
		if t, err := time.Parse(layout, text); err == nil && t.Format(layout) == text {
			return Slot(t.UnixMilli()), nil
		}
	}
	return 0, fmt.Errorf("slot %.40q: want a UTC time like 20261202T013000Z", text)
}

const (
	slotLayout       = "20060102T150405Z"
	slotLayoutMillis = "20060102T150405.000Z"
)
