package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

func (c *cron) timeZone() *Zone { return c.zone }

func (c *cron) changes() DST { return c.dst.Value() }

// String returns the text with single blanks, in capitals, and * for ?: the spellings of one
// expression become one text.
func (c *cron) String() string {
	text := strings.Join(strings.Fields(c.text), " ")
	if strings.HasPrefix(text, "@") {
		return text
	}
	return strings.ReplaceAll(strings.ToUpper(text), "?", "*")
}

func (c *cron) words() string {
	parts := []string{c.timeWords()}
	if days := c.dates.dayWords(); days != "" {
		parts = append(parts, days)
	}
	if c.dates.months != allMonths {
		parts = append(parts, "in "+listWords(c.dates.months, func(m int) string { return monthTitles[m-1] }))
	}
	return strings.Join(parts, " ")
}

var (
	monthTitles = [...]string{
		"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December",
	}
	weekdayTitles = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// timeWords lists the times of day if they are few; else it says how often, and between which.
func (c *cron) timeWords() string {
	const few = 6
	if bits.OnesCount64(c.seconds)*bits.OnesCount64(c.minutes)*bits.OnesCount32(c.hours) <= few {
		var times []string
		for t := c.nextTimeOfDay(0); t >= 0; t = nextOrNone(c, t+1) {
			times = append(times, readingText(int64(t), 0))
		}
		return "at " + andWords(times)
	}
	var parts []string
	units := []unitWords{
		{"second", c.seconds, 60, bits.Len64(c.seconds) == 1},
		{"minute", c.minutes, 60, bits.Len64(c.minutes) == 1},
		{"hour", uint64(c.hours), 24, false},
	}
	repeats := "" // the smallest unit that says how often
	for _, u := range units {
		switch {
		case u.isRange() && u.unit == "hour":
			first, last := int64(c.firstTimeOfDay()), int64(c.lastTimeOfDay())
			parts = append(parts, "from "+readingText(first, 0)+" to "+readingText(last, 0))
			if repeats == "" {
				parts = append([]string{"every hour"}, parts...)
			}
		case repeats != "":
			if text := u.within(); text != "" {
				parts = append(parts, text)
			}
		case u.step() > 0:
			repeats = u.unit
			parts = append([]string{u.every()}, parts...)
		case u.unit == "hour":
			parts = append(parts, u.within())
		case !u.omitted:
			parts = append(parts, "at "+u.values())
		}
	}
	return strings.Join(parts, " ")
}

// unitWords puts the values of the second, minute or hour into words.
type unitWords struct {
	unit    string
	mask    uint64
	size    int
	omitted bool // it is only 0, which needn't be said
}

// step returns the distance of values that go through the whole field at even steps, else 0.
func (u unitWords) step() int {
	first, last := bits.TrailingZeros64(u.mask), bits.Len64(u.mask)-1
	if first == last {
		return 0
	}
	step := bits.TrailingZeros64(u.mask&(u.mask-1)) - first
	if first >= step || last+step < u.size || bits.OnesCount64(u.mask) != (last-first)/step+1 {
		return 0
	}
	for v := first; v < u.size; v += step {
		if u.mask>>v&1 == 0 {
			return 0
		}
	}
	return step
}

// isRange tells whether the values are neighbours, but not the whole field.
func (u unitWords) isRange() bool {
	first, count := bits.TrailingZeros64(u.mask), bits.OnesCount64(u.mask)
	return count > 1 && count < u.size && u.mask>>first == 1<<count-1
}

// every says how often, for the smallest unit that repeats.
func (u unitWords) every() string {
	step := u.step()
	if step == 1 {
		return "every " + u.unit
	}
	text := fmt.Sprintf("every %d %ss", step, u.unit)
	if first := bits.TrailingZeros64(u.mask); first > 0 {
		text += fmt.Sprintf(" from %s %d on", u.unit, first)
	}
	return text
}

// within restricts a smaller unit that repeats.
func (u unitWords) within() string {
	switch step := u.step(); step {
	case 0:
		return "in " + u.values()
	case 1:
		return ""
	default:
		text := "in every " + ordinal(step) + " " + u.unit
		if first := bits.TrailingZeros64(u.mask); first > 0 {
			text += fmt.Sprintf(" from %d on", first)
		}
		return text
	}
}

func (u unitWords) values() string {
	name := u.unit
	if bits.OnesCount64(u.mask) > 1 {
		name += "s"
	}
	return name + " " + listWords(u.mask, strconv.Itoa)
}

// dayWords puts day of month and weekday into words; "" for every day.
func (d *dates) dayWords() string {
	special := d.special
	if special == nil {
		special = &specialDays{}
	}
	var days, weekdays []string
	if d.days != allDays {
		days = special.dayWords(d.days)
	}
	if d.weeks != allWeeks {
		weekdays = weekdayWords(d.weeks, special.last)
	}
	switch {
	case len(days) == 0 && len(weekdays) == 0:
		return ""
	case len(weekdays) == 0:
		return "on " + andWords(days)
	case len(days) == 0:
		return "on " + andWords(weekdays)
	case d.either:
		return "on " + andWords(days) + ", or on " + andWords(weekdays)
	default:
		return "on " + andWords(days) + " if it is " + andWords(weekdays)
	}
}

func (s *specialDays) dayWords(days uint32) []string {
	var words []string
	switch u := (unitWords{unit: "day", mask: uint64(days >> 1), size: 31}); {
	case days == 0:
	case u.step() > 1:
		words = append(words, "every "+ordinal(u.step())+" day of the month")
	default:
		u.mask = uint64(days)
		words = append(words, u.values()+" of the month")
	}
	for m := s.near; m != 0; m &= m - 1 {
		words = append(words, fmt.Sprintf("the workday nearest to day %d", bits.TrailingZeros32(m)))
	}
	for m := s.fromEnd; m != 0; m &= m - 1 {
		words = append(words, beforeLast(bits.TrailingZeros32(m), "the last day of the month"))
	}
	for m := s.nearFromEnd; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		if n == 0 {
			words = append(words, "the last workday of the month")
		} else {
			words = append(words, "the workday nearest to "+beforeLast(n, "the last day of the month"))
		}
	}
	return words
}

func beforeLast(n int, last string) string {
	switch n {
	case 0:
		return last
	case 1:
		return "the day before " + last
	default:
		return fmt.Sprintf("the day %d days before %s", n, last)
	}
}

func weekdayWords(weeks uint64, last uint8) []string {
	title := func(w int) string { return weekdayTitles[w] }
	const week = 1<<7 - 1
	always := weeks & (weeks >> 7) & (weeks >> 14) & (weeks >> 21) & (weeks >> 28) & week
	var words []string
	if always != 0 {
		words = append(words, listWords(always, title))
	}
	for n := 1; n <= 5; n++ {
		if nth := weeks >> (7 * (n - 1)) & week &^ always; nth != 0 {
			words = append(words, "the "+ordinal(n)+" "+listWords(nth, title)+" of the month")
		}
	}
	if last != 0 {
		words = append(words, "the last "+listWords(last, title)+" of the month")
	}
	return words
}

// listWords names the bits of a mask: "1, 3 and 5 to 9".
func listWords[M uint8 | uint16 | uint32 | uint64](mask M, name func(int) string) string {
	var items []string
	rest := uint64(mask)
	for rest != 0 {
		first := bits.TrailingZeros64(rest)
		length := bits.TrailingZeros64(^(rest >> first))
		last := first + length - 1
		rest &^= (1<<length - 1) << first
		switch length {
		case 1:
			items = append(items, name(first))
		case 2:
			items = append(items, name(first), name(last))
		default:
			items = append(items, name(first)+" to "+name(last))
		}
	}
	return andWords(items)
}

func andWords(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// ordinal returns 1st, 2nd, 3rd, 4th, 21st and so on.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
