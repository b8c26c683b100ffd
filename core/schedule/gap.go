package schedule

import "math/bits"

// minGap compares, from the inside out, neighbouring seconds, minutes, hours and days: between
// two neighbouring minutes, for example, lies the last second of the one and the first of the other.
func (c *cron) minGap() int64 {
	inMinute := leastStep(c.seconds)
	inHour := leastStep(c.minutes)*60 - int64(bits.Len64(c.seconds)-1-bits.TrailingZeros64(c.seconds))
	inDay := leastStep(uint64(c.hours))*3600 - int64(c.lastInHour()-c.firstInHour())
	gap := min(inMinute, inHour, inDay)
	if overnight := daysApart(1, c, c); overnight < gap { // else the days can't matter
		gap = min(gap, daysApart(leastDays(&c.dates, &c.dates), c, c))
	}
	return gap
}

// noStep is longer than any gap, in every unit.
const noStep = never / 3600

// leastStep returns the least distance between two bits of the mask, or noStep.
func leastStep(mask uint64) int64 {
	for step := int64(1); step < 64; step++ {
		if mask&(mask>>step) != 0 {
			return step
		}
	}
	return noStep
}

// daysApart returns the time from the last slot of a on one day to the first of b some days later.
func daysApart(days int64, a, b *cron) int64 {
	return days*secondsPerDay - int64(a.lastTimeOfDay()-b.firstTimeOfDay())
}

// leastDays returns the least number of days from a day of a to a later day of b. There always is
// one, since both have days in every cycle of the calendar.
func leastDays(a, b *dates) int64 {
	if a.all && b.all {
		return 1
	}
	var kinds [14]*yearDays
	least, last := never, -never
	// A cycle of the calendar, and then as long as it can take until both have had another day.
	const start, cycle, longestGap = 2000, 400, 40
	for year := int64(start); year < start+cycle+2*longestGap && least > 1; year++ {
		firstDay, leap := newYear(year), isLeap(year)
		kind := yearKind(leap, weekday(firstDay))
		if kinds[kind] == nil {
			kinds[kind] = daysOfYear(a, b, kind)
		}
		days := kinds[kind]
		least = min(least, days.least)
		if days.firstB < never {
			least = min(least, firstDay+days.firstB-last)
		}
		if days.lastA > -never {
			last = firstDay + days.lastA
		}
	}
	return least
}

// yearDays sums up the days of two sets in a kind of year. Days are counted from the year's first.
type yearDays struct {
	least         int64 // days from a day of a to a later one of b, or never
	lastA, firstB int64
}

func daysOfYear(a, b *dates, kind int) *yearDays {
	y := &yearDays{least: never, lastA: -never, firstB: never}
	eachMonth(kind, func(before int64, leap, month, first int) {
		daysA, daysB := a.ofMonth(leap, month, first), b.ofMonth(leap, month, first)
		if daysB != 0 {
			firstB := before + int64(bits.TrailingZeros32(daysB))
			y.least = min(y.least, firstB-y.lastA)
			y.firstB = min(y.firstB, firstB)
		}
		for step := int64(1); step < min(31, y.least); step++ {
			if daysA<<step&daysB != 0 {
				y.least = step
			}
		}
		if daysA != 0 {
			y.lastA = before + int64(bits.Len32(daysA)-1)
		}
	})
	return y
}

// eachMonth calls visit for the months of a kind of year, with the number of days before the month
// and the weekday of its first day.
func eachMonth(kind int, visit func(before int64, leap, month, first int)) {
	leap, first := kind/7, kind%7
	for month := 1; month <= 12; month++ {
		before := int(beforeMonth[leap][month])
		visit(int64(before), leap, month, (first+before)%7)
	}
}

// shareDay tells whether some day is in both sets.
func shareDay(a, b *dates) bool {
	shared := false
	for kind := 0; kind < 14 && !shared; kind++ {
		eachMonth(kind, func(_ int64, leap, month, first int) {
			shared = shared || a.ofMonth(leap, month, first)&b.ofMonth(leap, month, first) != 0
		})
	}
	return shared
}

// minGap returns the least gap of the rules and of each two of them. Moments come last: near each
// of them the slots of the others are simply looked at.
func (u union) minGap() int64 {
	gap := never
	for i, r := range u {
		gap = min(gap, r.minGap())
		for _, other := range u[:i] {
			gap = min(gap, gapBetween(r, other))
		}
	}
	for _, r := range u {
		m, ok := r.(moment)
		if !ok {
			continue
		}
		for t := u.next(m.at - gap + 1); t < min(m.at+gap, never); t = u.next(t + 1) {
			if t != m.at {
				gap = min(gap, max(t-m.at, m.at-t))
			}
		}
	}
	return gap
}

// gapBetween returns the least gap between different slots of two rules, or less where it isn't
// known exactly. For a moment it returns never.
func gapBetween(a, b rule) int64 {
	switch a := a.(type) {
	case *cron:
		switch b := b.(type) {
		case *cron:
			return cronGap(a, b)
		case interval:
			return mixedGap(a, b)
		}
	case interval:
		switch b := b.(type) {
		case *cron:
			return mixedGap(b, a)
		case interval:
			return residueGap(a.offset-b.offset, gcd(a.every, b.every))
		}
	}
	return never
}

func cronGap(a, b *cron) int64 {
	if a.zone != b.zone {
		return 1 // their distance changes with every zone change of either
	}
	gap := min(
		daysApart(leastDays(&a.dates, &b.dates), a, b),
		daysApart(leastDays(&b.dates, &a.dates), b, a),
	)
	if shareDay(&a.dates, &b.dates) {
		gap = min(gap, timesApart(a, b))
	}
	return gap
}

// timesApart returns the least distance of two different times of day in the union of both.
func timesApart(a, b *cron) int64 {
	least, last := never, -never
	for t := 0; t < secondsPerDay && least > 1; t++ {
		nextA, nextB := a.nextTimeOfDay(t), b.nextTimeOfDay(t)
		if nextA < 0 && nextB < 0 {
			break
		}
		t = max(nextA, nextB)
		if nextA >= 0 && nextB >= 0 {
			t = min(nextA, nextB)
		}
		least, last = min(least, int64(t)-last), int64(t)
	}
	return least
}

// mixedGap takes every day for a day of c, and every offset that its zone ever had.
func mixedGap(c *cron, v interval) int64 {
	modulus := gcd(v.every, secondsPerDay)
	gap, seen := never, map[int64]bool{}
	for _, p := range c.zone.periods {
		if seen[p.offset] {
			continue
		}
		seen[p.offset] = true
		for t := c.nextTimeOfDay(0); t >= 0 && gap > 1; t = nextOrNone(c, t+1) {
			gap = min(gap, residueGap(int64(t)-p.offset-v.offset, modulus))
		}
	}
	return gap
}

func nextOrNone(c *cron, t int) int {
	if t >= secondsPerDay {
		return -1
	}
	return c.nextTimeOfDay(t)
}

// residueGap returns the least distance from zero of the numbers that leave the same remainder as
// x, other than zero itself.
func residueGap(x, modulus int64) int64 {
	x -= floorDiv(x, modulus) * modulus
	if x == 0 {
		return modulus
	}
	return min(x, modulus-x)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
