package schedule

import "math/bits"

// dates is the set of days that match an expression's day of month, month and weekday.
type dates struct {
	days    uint32 // bits 1 to 31
	months  uint16 // bits 1 to 12
	years   uint16 // kinds of year (see yearKind) that have a matching day
	weeks   uint64 // five groups of seven bits: the weekdays of the month's first seven days, and so on
	either  bool   // day of month or weekday, where both are restricted
	all     bool   // every day matches
	special *specialDays
}

// The masks of fields without a restriction.
const (
	allDays   uint32 = 1<<32 - 2
	allMonths uint16 = 1<<13 - 2
	allWeeks  uint64 = 1<<35 - 1
)

// everyWeek times a mask of weekdays, bits 0 to 6 with Sunday first, is that mask in each week.
const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28

// specialDays are days that count from the month's end, or depend on where its weekends are.
type specialDays struct {
	fromEnd     uint32 // L-n: bit n
	nearFromEnd uint32 // L-nW: bit n
	near        uint32 // nW: bits 1 to 31
	last        uint8  // dL: weekdays
}

// yearKind numbers the 14 kinds of year: common or leap, by the weekday of the first day. All
// of them occur in the calendar's cycle of 400 years.
func yearKind(leap, newYearsWeekday int) int { return leap*7 + newYearsWeekday }

// seal computes what is derived from the masks. It reports whether any day matches at all.
func (d *dates) seal() bool {
	fullDays, fullWeeks := d.days == allDays, d.weeks == allWeeks
	d.all = d.months == allMonths && (fullDays && fullWeeks || d.either && (fullDays || fullWeeks))
	if d.all {
		d.years = 1<<14 - 1
		return true
	}
	for kind := range 14 {
		leap, first := kind/7, kind%7
		for months := d.months; months != 0; months &= months - 1 {
			month := bits.TrailingZeros16(months)
			if d.inMonth(leap, month, (first+int(beforeMonth[leap][month]))%7) != 0 {
				d.years |= 1 << kind
				break
			}
		}
	}
	return d.years != 0
}

// next returns the number of the first matching day at or after day, or never.
func (d *dates) next(day int64) int64 {
	if d.all {
		return day
	}
	year, start := yearOf(day)
	leap, first := isLeap(year), weekday(start)
	month, dayOfMonth := monthOf(leap, int(day-start))
	for year <= lastYear {
		if d.years>>yearKind(leap, first)&1 != 0 {
			for months := d.months >> month << month; months != 0; months &= months - 1 {
				m := bits.TrailingZeros16(months)
				before := int(beforeMonth[leap][m])
				days := d.inMonth(leap, m, (first+before)%7)
				if m == month {
					days = days >> dayOfMonth << dayOfMonth
				}
				if days != 0 {
					return start + int64(before+bits.TrailingZeros32(days)-1)
				}
			}
		}
		start += int64(365 + leap)
		first = (first + 1 + leap) % 7
		year++
		leap = isLeap(year)
		month, dayOfMonth = 1, 1
	}
	return never
}

// ofMonth returns the matching days of any month, like inMonth.
func (d *dates) ofMonth(leap, month, first int) uint32 {
	if d.months>>month&1 == 0 {
		return 0
	}
	return d.inMonth(leap, month, first)
}

// inMonth returns the matching days of a matching month as bits 1 to 31; first is the weekday of its
// first day.
func (d *dates) inMonth(leap, month, first int) uint32 {
	length := monthLength(leap, month)
	inMonth := uint32(1)<<(length+1) - 2
	byDay, byWeekday := d.days, daysOn(d.weeks, first)
	if d.special != nil {
		byDay |= d.special.byDay(length, first)
		byWeekday |= daysOn(uint64(d.special.last)*everyWeek, first) & (0x7f << (length - 6))
	}
	if d.either {
		return (byDay | byWeekday) & inMonth
	}
	return byDay & byWeekday & inMonth
}

// daysOn returns the days of a month on the given weekdays of its weeks; first is the weekday of its
// first day. Each week's bits are rotated, from Sunday first to that weekday first.
func daysOn(weeks uint64, first int) uint32 {
	straight := (uint64(1)<<(7-first) - 1) * everyWeek
	return uint32((weeks>>first&straight | weeks<<(7-first)&^straight) << 1)
}

func (s *specialDays) byDay(length, first int) uint32 {
	var days uint32
	for m := s.fromEnd; m != 0; m &= m - 1 {
		if day := length - bits.TrailingZeros32(m); day > 0 {
			days |= 1 << day
		}
	}
	for m := s.nearFromEnd; m != 0; m &= m - 1 {
		if day := length - bits.TrailingZeros32(m); day > 0 {
			days |= 1 << nearestWorkday(day, length, first)
		}
	}
	for m := s.near; m != 0; m &= m - 1 {
		if day := bits.TrailingZeros32(m); day <= length {
			days |= 1 << nearestWorkday(day, length, first)
		}
	}
	return days
}

// nearestWorkday returns the day from Monday to Friday that is nearest to day and in the same
// month (Quartz, CronExpression: "W").
func nearestWorkday(day, length, first int) int {
	const saturday, sunday = 6, 0
	switch (first + day - 1) % 7 {
	case saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case sunday:
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}
