package schedule

import (
	"fmt"
	"time"
)

// Night is a change of a zone's offset from UTC, and what happens to a schedule there.
type Night struct {
	// At is the first instant with the new offset.
	At Slot
	// Before and After are the offsets from UTC. The clock is put forward where After is greater.
	Before, After time.Duration
	// Effect says what happens to the schedule's slots; "" where no reading of it is in the gap or
	// the overlap.
	Effect string
}

// Nights returns the changes of the schedule's zone in the given number of days from a slot on, in
// order.
func (s *Schedule) Nights(from Slot, days int) []Night {
	zone := s.Zone()
	start := from.seconds()
	end := start + int64(days)*secondsPerDay
	var nights []Night
	for i := zone.period(start-1) + 1; i < len(zone.periods) && zone.periods[i].start < end; i++ {
		nights = append(nights, Night{
			At:     slotAt(zone.periods[i].start),
			Before: time.Duration(zone.periods[i-1].offset) * time.Second,
			After:  time.Duration(zone.periods[i].offset) * time.Second,
			Effect: s.rule.night(i),
		})
	}
	return nights
}

func (c *cron) explain(t int64) (note string, ok bool) {
	i := c.zone.period(t)
	search := readings{cron: c, from: never, hit: -never}
	if c.nextInPeriod(&search, i, t) == t {
		if back := -c.zone.change(i); t < c.zone.periods[i].start+back {
			return "second pass", true
		}
		return "", true
	}
	if c.nextMoved(&search, i, t) != t {
		return "", false
	}
	reading := t + c.zone.periods[i-1].offset
	if c.dst.Value().Gap == GapEnd {
		reading = search.atOrAfter(reading)
	}
	shown := t + c.zone.periods[i].offset
	return "moved: " + readingText(reading, shown) + " does not exist", true
}

// night looks at the readings in the gap or overlap with which period i begins.
func (c *cron) night(i int) string {
	start, before, change := c.zone.periods[i].start, c.zone.periods[i-1].offset, c.zone.change(i)
	from, to := start+before, start+before+change
	if change < 0 {
		from, to = to, from
	}
	first := c.nextReading(from)
	if first >= to {
		return ""
	}
	last, count := first, 1
	for r := c.nextReading(first + 1); r < to; r = c.nextReading(r + 1) {
		last = r
		count++
	}
	beside := from
	if change > 0 {
		beside = to // in a gap of a day, people have to see which day
	}
	what := readingText(first, beside)
	if count > 1 {
		what = fmt.Sprintf("%s to %s (%d times)", what, readingText(last, beside), count)
	}
	if change < 0 {
		return c.overlapEffect(what, count > 1)
	}
	return c.gapEffect(what, count > 1, first+change, last+change, to)
}

func (c *cron) overlapEffect(what string, several bool) string {
	effect := what + " happens twice: "
	if several {
		effect = what + " happen twice: "
	}
	switch c.overlap() {
	case OverlapSecond:
		return effect + "runs in the second pass only"
	case OverlapBoth:
		return effect + "runs in both passes"
	case OverlapFirst:
	}
	return effect + "runs in the first pass only"
}

func (c *cron) gapEffect(what string, several bool, first, last, end int64) string {
	effect := what + " does not exist: "
	if several {
		effect = what + " do not exist: "
	}
	switch c.dst.Value().Gap {
	case GapSkip:
		return effect + "doesn't run"
	case GapEnd:
		return effect + "runs once at " + readingText(end, end)
	case GapShift:
	}
	effect += "runs at " + readingText(first, end)
	if several {
		effect += " to " + readingText(last, end)
	}
	return effect
}

// readingText returns a reading for people: with the date if it isn't the day of another reading
// that is shown beside it, and with the seconds if there are any.
func readingText(r, beside int64) string {
	layout := "15:04"
	if r%60 != 0 {
		layout = "15:04:05"
	}
	if floorDiv(r, secondsPerDay) != floorDiv(beside, secondsPerDay) {
		layout = "2006-01-02 " + layout
	}
	return time.Unix(r, 0).UTC().Format(layout)
}
