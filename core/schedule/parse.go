package schedule

import (
	"fmt"
	"strings"
	"time"
)

// maxText is the longest text of a schedule, in bytes.
const maxText = 256

// macros are the named cron expressions.
var macros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

const macroNames = "@hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, @every and @at are known"

// Parse reads the text of a schedule, in the zone and with the settings of o: a cron expression of
// five fields (minute hour day-of-month month weekday), or six with the seconds first; or
// @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually; or @every INTERVAL[/OFFSET]; or
// @at TIME with a time like 2027-01-31T02:30:00Z.
//
// A field is a list of *, values, ranges (which may run backwards: 22-4) and steps (*/15, 5/15,
// 9-17/2); ? means *. Months and weekdays have names (JAN, mon); 0 and 7 are Sunday. The day of
// month may be L (last), L-n, LW (last workday), L-nW and nW (workday nearest to n, same month);
// the weekday d#n (nth of the month) and dL (last). H, H/n, H(a-b) and H(a-b)/n pick values from
// the job's name. If neither the day of month nor the weekday begins with * or ?, a day that
// matches either of them matches (POSIX crontab); else a day must match both.
//
// Every error is a [*ParseError] with the range of the mistake. A text that could never fire is
// an error.
func Parse(text string, o Options) (*Schedule, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	p := parser{text: text, options: o}
	r, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Schedule{r}, nil
}

// parser reads one text. Positions are byte offsets in it.
type parser struct {
	text    string
	options Options
	field   *field // the field at hand
	fields  int    // how many the text has
	special specialDays
	nth     uint64 // weekdays of single weeks, as in dates.weeks
}

// span is a range of the text.
type span struct{ start, end int }

func (p *parser) at(s span) string { return p.text[s.start:s.end] }

func (p *parser) fail(s span, msg, hint string) error {
	name := "schedule"
	if p.field != nil {
		name = p.field.name
	}
	return &ParseError{Field: name, Offset: s.start, Len: s.end - s.start, Value: p.at(s), Msg: msg, Hint: hint}
}

func (p *parser) parse() (rule, error) {
	if len(p.text) > maxText {
		return nil, p.fail(span{maxText, len(p.text)}, fmt.Sprintf("a schedule has at most %d bytes", maxText),
			"split it: a job can have a list of schedules")
	}
	var parts [8]span
	n := p.split(&parts)
	if n == 0 {
		return nil, p.fail(span{0, 0}, "it is empty", `write five fields, such as "30 2 * * *"`)
	}
	switch first := p.at(parts[0]); {
	case first[0] == '@':
		return p.macro(parts[:n])
	case strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ="):
		return nil, p.fail(parts[0], "a time zone isn't part of the schedule's text", "write time_zone beside the schedule")
	}
	return p.cron(parts[:n])
}

// split finds the words of the text, separated by blanks and tabs. Words that no part is left for
// are put into the last one.
func (p *parser) split(parts *[8]span) int {
	n := 0
	for i := 0; i < len(p.text); {
		if p.text[i] == ' ' || p.text[i] == '\t' {
			i++
			continue
		}
		start := i
		for i < len(p.text) && p.text[i] != ' ' && p.text[i] != '\t' {
			i++
		}
		if n == len(parts) {
			parts[n-1].end = i
			continue
		}
		parts[n] = span{start, i}
		n++
	}
	return n
}

// all returns the range of several words.
func all(parts []span) span { return span{parts[0].start, parts[len(parts)-1].end} }

// macro reads a text that begins with @.
func (p *parser) macro(parts []span) (rule, error) {
	name, args := p.at(parts[0]), parts[1:]
	switch name {
	case "@every":
		if len(args) != 1 {
			return nil, p.fail(all(parts), "@every takes one interval", "write it like @every 15m or @every 1h/5m")
		}
		return p.interval(args[0])
	case "@at":
		if len(args) != 1 {
			return nil, p.fail(all(parts), "@at takes one time", "write it like @at 2027-01-31T02:30:00Z")
		}
		return p.moment(args[0])
	case "@reboot":
		return nil, p.fail(parts[0], "a group of instances has no boot", "give it a schedule, such as @hourly")
	}
	expression, ok := macros[name]
	if !ok {
		return nil, p.fail(parts[0], "there is no such schedule", macroNames)
	}
	if len(args) != 0 {
		return nil, p.fail(all(args), name+" stands alone", "write the five fields instead")
	}
	inner := parser{text: expression, options: p.options}
	r, err := inner.parse()
	if err != nil {
		return nil, err
	}
	if c, ok := r.(*cron); ok {
		c.text = p.text
	}
	return r, nil
}

func (p *parser) moment(arg span) (rule, error) {
	t, err := time.Parse(time.RFC3339, p.at(arg))
	if err != nil {
		return nil, p.failAs("at", arg, "it isn't a time with its offset from UTC (RFC 3339)",
			"write it like 2027-01-31T02:30:00Z or 2027-01-31T02:30:00+01:00")
	}
	m, err := once(t, p.options.Zone)
	if err != nil {
		return nil, p.failAs("at", arg, "one run is due at a whole second of the years 1970 to 2199", "correct the time")
	}
	return m, nil
}

// interval reads the argument of @every: INTERVAL[/OFFSET].
func (p *parser) interval(arg span) (rule, error) {
	whole, phase, hasPhase := arg, span{arg.end, arg.end}, false
	if i := strings.IndexByte(p.at(arg), '/'); i >= 0 {
		whole, phase, hasPhase = span{arg.start, arg.start + i}, span{arg.start + i + 1, arg.end}, true
	}
	every, ok := parseDuration(p.at(whole))
	if !ok {
		return nil, p.failAs("every", whole, "an interval is made of whole days, hours, minutes and seconds",
			"write it like 15s, 90m, 1h30m or 1d")
	}
	if err := checkInterval(every); err != nil {
		return nil, p.failAs("every", whole, "an interval goes from 1s to 366d", "for one run use @at TIME")
	}
	if !hasPhase {
		return interval{every: int64(every / time.Second), zone: p.options.Zone}, nil
	}
	offset, ok := parseDuration(p.at(phase))
	if !ok || checkOffset(every, offset) != nil {
		return nil, p.failAs("offset", phase, "an offset goes from 0s to less than the interval, in whole seconds",
			"leave it out for slots that start at the Unix epoch")
	}
	return interval{every: int64(every / time.Second), offset: int64(offset / time.Second), zone: p.options.Zone}, nil
}

func (p *parser) failAs(field string, s span, msg, hint string) error {
	return &ParseError{Field: field, Offset: s.start, Len: s.end - s.start, Value: p.at(s), Msg: msg, Hint: hint}
}

// parseDuration reads whole numbers of days, hours, minutes and seconds, in this order, each at
// most once: 1d12h, 90m. What is longer than any interval may be is cut to some such length.
func parseDuration(text string) (time.Duration, bool) {
	const tooLong = 2 * int64(maxInterval/time.Second)
	total, rest, units := int64(0), text, durationUnits
	for rest != "" {
		n, digits := int64(0), 0
		for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
			n = min(n*10+int64(rest[digits]-'0'), tooLong)
			digits++
		}
		if digits == 0 || digits == len(rest) {
			return 0, false
		}
		for len(units) > 0 && units[0].letter != rest[digits] {
			units = units[1:]
		}
		if len(units) == 0 {
			return 0, false
		}
		total = min(total+n*units[0].seconds, tooLong)
		units, rest = units[1:], rest[digits+1:]
	}
	return time.Duration(total) * time.Second, text != ""
}
