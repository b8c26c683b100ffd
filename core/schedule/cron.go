package schedule

import (
	"math/bits"
	"unique"
)

// cron is the rule of a cron expression.
type cron struct {
	text             string
	zone             *Zone
	dates            dates
	seconds, minutes uint64
	hours            uint32
	dst              unique.Handle[DST] // jobs are many and settings few
	interval         bool               // whether both passes of an overlap count, whatever dst says
}

// nextReading returns the first matching reading at or after r, or never. A reading is counted
// like an instant in UTC: seconds since 1970-01-01 00:00:00 on the clock.
func (c *cron) nextReading(r int64) int64 {
	if r >= never {
		return never
	}
	today := floorDiv(r, secondsPerDay)
	t := c.nextTimeOfDay(int(r - today*secondsPerDay))
	if t < 0 {
		today++
	}
	day := c.dates.next(today)
	switch {
	case day == never:
		return never
	case t < 0 || day > today:
		t = c.firstTimeOfDay()
	}
	return day*secondsPerDay + int64(t)
}

// nextTimeOfDay returns the first matching time at or after t, in seconds since midnight, or -1.
func (c *cron) nextTimeOfDay(t int) int {
	hour, minute, second := t/3600, t/60%60, t%60
	if c.hours>>hour&1 != 0 {
		if c.minutes>>minute&1 != 0 {
			if seconds := c.seconds >> second; seconds != 0 {
				return t + bits.TrailingZeros64(seconds)
			}
		}
		if minutes := c.minutes >> (minute + 1); minutes != 0 {
			minute += 1 + bits.TrailingZeros64(minutes)
			return hour*3600 + minute*60 + bits.TrailingZeros64(c.seconds)
		}
	}
	if hours := c.hours >> (hour + 1); hours != 0 {
		hour += 1 + bits.TrailingZeros32(hours)
		return hour*3600 + c.firstInHour()
	}
	return -1
}

// firstInHour and lastInHour return the first and the last matching second of a matching hour.
func (c *cron) firstInHour() int {
	return bits.TrailingZeros64(c.minutes)*60 + bits.TrailingZeros64(c.seconds)
}

func (c *cron) lastInHour() int {
	return (bits.Len64(c.minutes)-1)*60 + bits.Len64(c.seconds) - 1
}

// firstTimeOfDay and lastTimeOfDay return the first and the last matching second of a day.
func (c *cron) firstTimeOfDay() int {
	return bits.TrailingZeros32(c.hours)*3600 + c.firstInHour()
}

func (c *cron) lastTimeOfDay() int {
	return (bits.Len32(c.hours)-1)*3600 + c.lastInHour()
}

// overlap returns which passes of an overlap count.
func (c *cron) overlap() DSTOverlap {
	if c.interval {
		return OverlapBoth
	}
	return c.dst.Value().Overlap
}

// readings looks for readings that mostly rise: it only searches the calendar again when the
// last answer doesn't hold any more.
type readings struct {
	cron      *cron
	from, hit int64 // hit is the first matching reading at or after from
}

func (s *readings) atOrAfter(r int64) int64 {
	if r < s.from || r > s.hit {
		s.from, s.hit = r, s.cron.nextReading(r)
	}
	return s.hit
}

// next returns the first slot at or after the instant t, or never.
func (c *cron) next(t int64) int64 {
	search := readings{cron: c, from: never, hit: -never}
	for i := c.zone.period(t); i < len(c.zone.periods); {
		slot := min(c.nextMoved(&search, i, t), c.nextInPeriod(&search, i, t))
		if slot < never {
			return slot
		}
		i = c.skipPeriods(&search, i)
	}
	return never
}

// nextInPeriod returns the first slot at or after t, in period i, whose reading exists and
// counts in this pass.
func (c *cron) nextInPeriod(search *readings, i int, t int64) int64 {
	zone := c.zone
	offset := zone.periods[i].offset
	from, end := max(t, zone.periods[i].start), zone.end(i)
	if change := zone.change(i); change < 0 && c.overlap() == OverlapFirst {
		from = max(from, zone.periods[i].start-change) // the second pass doesn't count
	}
	if change := zone.change(i + 1); change < 0 && c.overlap() == OverlapSecond {
		end += change // the first pass doesn't count
	}
	if from >= end {
		return never
	}
	if slot := search.atOrAfter(from+offset) - offset; slot < end {
		return slot
	}
	return never
}

// nextMoved returns the first slot at or after t whose reading is in the gap at the start of
// period i, or never.
func (c *cron) nextMoved(search *readings, i int, t int64) int64 {
	gap := c.zone.change(i)
	if gap <= 0 {
		return never
	}
	start, before := c.zone.periods[i].start, c.zone.periods[i-1].offset
	switch rule := c.dst.Value().Gap; {
	case rule == GapEnd && t <= start:
		if search.atOrAfter(start+before) < start+before+gap {
			return start
		}
	case rule == GapShift && t < start+gap:
		if slot := search.atOrAfter(max(t, start)+before) - before; slot < start+gap {
			return slot
		}
	}
	return never
}

// skipPeriods returns the period to look at after period i held no slot: the next one, or
// a later one if no matching reading can be in between.
func (c *cron) skipPeriods(search *readings, i int) int {
	next := i + 1
	if next >= len(c.zone.periods) {
		return next
	}
	start := c.zone.periods[next]
	if start.start+start.offset < search.from {
		return next // the clock is put back to readings that weren't searched
	}
	// No zone is a whole day away from UTC, so nothing is due until a day before the reading.
	if quiet := search.hit - secondsPerDay; quiet > c.zone.end(next) {
		return max(next, c.zone.period(quiet))
	}
	return next
}
