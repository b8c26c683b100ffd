package schedule

import (
	"fmt"
	"strings"
)

// ParseError says what is wrong with a schedule, and where. Every error of this package is one.
type ParseError struct {
	// Field is what holds the mistake: "second", "minute", "hour", "day of month", "month",
	// "weekday", "every", "offset", "at", "time_zone", "dst.gap" or "dst.overlap"; or "schedule"
	// where it is the text as a whole.
	Field string
	// Offset and Len are the range of the mistake in the text, in bytes. Len is 0 where
	// something is missing, and where there is no text (values given to [Every] and [At]).
	Offset, Len int
	// Value is the mistake itself, as it was written.
	Value string
	// Msg says what is wrong and what is allowed.
	Msg string
	// Hint is a way out; "" if Msg already names it.
	Hint string
}

// Error returns the whole message in one line.
func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	if e.Value != "" {
		fmt.Fprintf(&b, " %q", e.Value)
	}
	if e.Len > 0 && e.Offset > 0 {
		fmt.Fprintf(&b, " at column %d", e.Offset+1)
	}
	b.WriteString(": " + e.Msg)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}
