package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	minInterval = time.Second
	maxInterval = 366 * 24 * time.Hour
)

// interval is the rule of slots at a fixed distance, counted from the epoch.
type interval struct {
	every, offset int64 // seconds; 0 <= offset < every
	zone          *Zone
}

func checkInterval(every time.Duration) error {
	if every < minInterval || every > maxInterval || every%time.Second != 0 {
		return &ParseError{
			Field: "every", Value: every.String(),
			Msg: "an interval is a whole number of seconds from 1s to 366d", Hint: "for one run use at",
		}
	}
	return nil
}

func checkOffset(every, offset time.Duration) error {
	if offset < 0 || offset >= every || offset%time.Second != 0 {
		return &ParseError{
			Field: "offset", Value: offset.String(),
			Msg: fmt.Sprintf("an offset is a whole number of seconds from 0s to less than the interval, %s",
				durationText(int64(every/time.Second))),
			Hint: "leave it out for slots that start at the Unix epoch",
		}
	}
	return nil
}

func (v interval) next(t int64) int64 {
	return v.offset - floorDiv(v.offset-t, v.every)*v.every
}

func (v interval) minGap() int64 { return v.every }

func (v interval) explain(t int64) (string, bool) { return "", v.next(t) == t }

func (v interval) night(int) string { return "" }

func (v interval) timeZone() *Zone { return v.zone }

func (v interval) changes() DST { return DST{} }

func (v interval) notes() []string { return nil }

func (v interval) String() string {
	if v.offset == 0 {
		return "@every " + durationText(v.every)
	}
	return "@every " + durationText(v.every) + "/" + durationText(v.offset)
}

func (v interval) words() string {
	if v.offset == 0 {
		return "every " + durationText(v.every)
	}
	return "every " + durationText(v.every) + ", offset by " + durationText(v.offset)
}

// moment is the rule of a single slot.
type moment struct {
	at   int64
	zone *Zone
}

func once(t time.Time, zone *Zone) (moment, error) {
	const msg = "one run is due at a whole second of the years 1970 to 2199"
	if s := t.Unix(); s < 0 || s > latest || t.Nanosecond() != 0 {
		value := t.Format(time.RFC3339Nano)
		return moment{}, &ParseError{Field: "at", Value: value, Msg: msg, Hint: "write it like 2027-01-31T02:30:00Z"}
	}
	return moment{at: t.Unix(), zone: zone}, nil
}

func (m moment) next(t int64) int64 {
	if t <= m.at {
		return m.at
	}
	return never
}

func (m moment) minGap() int64 { return never }

func (m moment) explain(t int64) (string, bool) { return "", t == m.at }

func (m moment) night(int) string { return "" }

func (m moment) timeZone() *Zone { return m.zone }

func (m moment) changes() DST { return DST{} }

func (m moment) notes() []string { return nil }

func (m moment) String() string { return "@at " + slotAt(m.at).Time().Format(time.RFC3339) }

func (m moment) words() string {
	return "once, on " + slotAt(m.at).Time().In(m.zone.location).Format("2006-01-02 at 15:04:05 MST")
}

// durationUnits are the units of an interval's text, largest first.
var durationUnits = []struct {
	letter  byte
	seconds int64
}{{'d', secondsPerDay}, {'h', 3600}, {'m', 60}, {'s', 1}}

// durationText returns seconds as text that parseDuration reads, such as 1h30m.
func durationText(seconds int64) string {
	if seconds == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, unit := range durationUnits {
		if n := seconds / unit.seconds; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(unit.letter)
			seconds -= n * unit.seconds
		}
	}
	return b.String()
}
