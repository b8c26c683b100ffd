package schedule

const (
	secondsPerDay = 24 * 60 * 60
	// never is later than every instant, reading and day number.
	never = int64(1) << 62
	// firstYear and lastYear bound the slots; zone tables and searches end there.
	firstYear, lastYear = 1900, 2199
)

// floorDiv divides rounding down, also for negative a.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// isLeap returns 1 for a leap year of the Gregorian calendar, else 0.
func isLeap(year int64) int {
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 1
	}
	return 0
}

// newYear returns the number of the year's first day; day 0 is 1970-01-01.
func newYear(year int64) int64 {
	y := year - 1
	return 365*(year-1970) + y/4 - y/100 + y/400 - 477
}

// weekday returns the weekday of a day number, 0 for Sunday.
func weekday(day int64) int {
	w := (day + 4) % 7 // day 0 was a Thursday
	if w < 0 {
		w += 7
	}
	return int(w)
}

// beforeMonth is the number of days of the year before each month, common and leap.
var beforeMonth = [2][14]int16{
	{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
	{0, 0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
}

// monthLength returns the number of days of a month (1 to 12).
func monthLength(leap, month int) int {
	return int(beforeMonth[leap][month+1] - beforeMonth[leap][month])
}

// yearOf returns the year of a day number, and the number of the year's first day.
func yearOf(day int64) (year, start int64) {
	// A year has 365.2425 days on average, and from firstYear to lastYear none begins more than 1.5
	// days before its multiple of that: the guess is right, or one too late.
	year = 1970 + floorDiv(day*10000+15000, 3652425)
	if start = newYear(year); start > day {
		year--
		start = newYear(year)
	}
	return year, start
}

// monthOf returns the month of a day of the year, which counts from 0, and the day of that month.
func monthOf(leap, dayOfYear int) (month, dayOfMonth int) {
	month = dayOfYear>>5 + 1 // no month is longer than 32 days: it is this one, or the next
	if dayOfYear >= int(beforeMonth[leap][month+1]) {
		month++
	}
	return month, dayOfYear - int(beforeMonth[leap][month]) + 1
}
