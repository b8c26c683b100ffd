package job

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// unit is a unit of a duration text.
type unit struct {
	name string
	size time.Duration
}

// units returns the units of a duration text, the longest first. Days and weeks are 24 hours
// and 7 days long whatever the clocks do.
func units() []unit {
	return []unit{
		{"w", 7 * 24 * time.Hour},
		{"d", 24 * time.Hour},
		{"h", time.Hour},
		{"m", time.Minute},
		{"s", time.Second},
		{"ms", time.Millisecond},
	}
}

// ParseDuration reads a duration as configuration files write it: whole numbers with the
// units w d h m s ms, the longest first and each at most once, as "1h30m" or "500ms". It has
// no sign, no fraction and no blank. The error says what is wrong and shows the fix.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, errors.New(`it is empty; write a number and a unit, as "30s"`)
	}
	rest, total, left := text, time.Duration(0), units()
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		letters := strings.IndexAny(rest[digits:], "0123456789")
		if letters < 0 {
			letters = len(rest) - digits
		}
		number, name := rest[:digits], rest[digits:digits+letters]
		rest = rest[digits+letters:]
		if number == "" {
			return 0, fmt.Errorf(`%q isn't a whole number and a unit (w d h m s ms); write it as "1h30m" or "500ms"`, name)
		}
		if name == "" {
			return 0, fmt.Errorf("%s has no unit; write \"%ss\" for seconds (units: w d h m s ms)", number, text)
		}
		size, after, err := findUnit(name, left)
		if err != nil {
			return 0, err
		}
		left = after
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > int64((1<<63-1-total)/size) {
			return 0, errors.New("it is longer than 292 years; write less")
		}
		total += time.Duration(n) * size
	}
	return total, nil
}

// findUnit returns the size of the unit called name and the units that may follow it.
func findUnit(name string, left []unit) (time.Duration, []unit, error) {
	for i, u := range left {
		if u.name == name {
			return u.size, left[i+1:], nil
		}
	}
	for _, u := range units() {
		if u.name == name {
			return 0, nil, fmt.Errorf(`the unit %q stands twice or after a shorter one; write the longest unit first, as "1h30m"`, name)
		}
	}
	return 0, nil, fmt.Errorf(`%q isn't a unit; the units are w d h m s ms, with whole numbers, as "1h30m" or "500ms"`, name)
}

// FormatDuration writes d as [ParseDuration] reads it, in whole milliseconds and without
// weeks: "1d12h", "1m30s", "0s".
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return "-" + FormatDuration(-d)
	}
	var b strings.Builder
	for _, u := range units()[1:] {
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			d %= u.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}
