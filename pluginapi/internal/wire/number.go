package wire

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// maxText is the most bytes of a text that are taken from the other side.
const maxText = 8 << 10

// maxReading is the end of the year 9999: later times can't be written as RFC 3339.
const maxReading = 253_402_300_799_999

// awayFromZero returns d in milliseconds, rounded so that only 0 becomes 0.
func awayFromZero(d time.Duration) int64 {
	ms := d.Milliseconds()
	switch rest := d % time.Millisecond; {
	case rest > 0:
		ms++
	case rest < 0:
		ms--
	}
	return ms
}

// floor returns d in whole milliseconds, rounded down.
func floor(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d%time.Millisecond < 0 {
		ms--
	}
	return ms
}

// duration is the inverse of both; it saturates.
func duration(ms int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// millis returns a reading of a clock, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// reading is the inverse of millis. A time before 1970 or after the year 9999 is none.
func reading(ms int64) time.Time {
	if ms <= 0 || ms > maxReading {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// int32Of saturates.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// text makes s fit for protobuf, which refuses a whole message for one wrong byte.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clip cuts a text of the other side to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// each applies f to every element.
func each[A, B any](in []A, f func(A) B) []B {
	if len(in) == 0 {
		return nil
	}
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}
