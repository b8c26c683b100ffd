package schedule

import (
	"fmt"
	"math/bits"
	"strings"
)

func (c *cron) notes() []string {
	var notes []string
	add := func(ok bool, note string) {
		if ok {
			notes = append(notes, note)
		}
	}
	add(len(strings.Fields(c.text)) == 6, sixFields)
	for _, u := range [...]unitWords{
		{unit: "second", mask: c.seconds, size: 60},
		{unit: "minute", mask: c.minutes, size: 60},
		{unit: "hour", mask: uint64(c.hours), size: 24},
	} {
		note := unevenNote(u)
		add(note != "", note)
	}
	d := &c.dates
	byDay, byWeekday := d.days != allDays, d.weeks != allWeeks
	switch {
	case !byDay || !byWeekday:
	case d.either:
		add(true, "day of month and weekday are both restricted: a day that matches either of them matches")
	default:
		add(true, "day of month or weekday begins with * but is restricted by its step: a day must match both of them")
	}
	const commonYears = 1<<7 - 1
	switch missing := d.missing(); {
	case d.years&commonYears == 0:
		add(true, "it runs in leap years only")
	case missing != 0 && (!byWeekday || !d.either):
		add(true, fmt.Sprintf("months without day %d are left out", missing))
	}
	return notes
}

// unevenNote tells about a step such as */7, with which the last distance is shorter.
func unevenNote(u unitWords) string {
	step, first, last := u.step(), bits.TrailingZeros64(u.mask), bits.Len64(u.mask)-1
	wrap := first + u.size - last
	if step == 0 || wrap == step {
		return ""
	}
	return fmt.Sprintf("the steps of the %s are uneven: after %d comes %d, %d later and not %d; for an even distance use every",
		u.unit, last, first, wrap, step)
}

// missing returns the first day of month of the expression if some month of it ends before, else 0.
func (d *dates) missing() int {
	if d.special != nil || d.days == 0 {
		return 0
	}
	first := bits.TrailingZeros32(d.days)
	for months := d.months; months != 0; months &= months - 1 {
		if first > monthLength(1, bits.TrailingZeros16(months)) {
			return first
		}
	}
	return 0
}
