package schedule

import (
	"fmt"
	"strings"
	"unique"
)

// field describes one field of a cron expression.
type field struct {
	name     string
	min, max int
	names    string // of the values from min on, three letters each
	allowed  string // for messages
}

// The fields, in the order of a text with seconds.
var (
	secondField  = field{name: "second", max: 59, allowed: "the second goes from 0 to 59"}
	minuteField  = field{name: "minute", max: 59, allowed: "the minute goes from 0 to 59"}
	hourField    = field{name: "hour", max: 23, allowed: "the hour goes from 0 to 23"}
	dayField     = field{name: "day of month", min: 1, max: 31, allowed: "the day of month goes from 1 to 31"}
	monthField   = field{name: "month", min: 1, max: 12, names: monthNames, allowed: "the month goes from 1 to 12, or JAN to DEC"}
	weekdayField = field{name: "weekday", max: 6, names: weekdayNames, allowed: "the weekday goes from 0 to 7, or SUN to SAT; 0 and 7 are Sunday"}
)

const (
	monthNames   = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	weekdayNames = "SUNMONTUEWEDTHUFRISAT"
	sixFields    = "six fields are read as: second minute hour day-of-month month weekday"
	fiveFields   = "five fields are read as: minute hour day-of-month month weekday"
)

// cron reads the fields of a cron expression.
func (p *parser) cron(parts []span) (rule, error) {
	p.fields = len(parts)
	c := &cron{text: p.text, zone: p.options.Zone, dst: unique.Make(p.options.DST), seconds: 1}
	switch {
	case p.fields == 6:
		seconds, err := p.list(&secondField, parts[0])
		if err != nil {
			return nil, err
		}
		c.seconds = seconds
		parts = parts[1:]
	case p.fields < 5:
		return nil, p.fail(all(parts), fmt.Sprintf("a schedule has 5 fields, or 6 with the seconds first, and not %d", p.fields), fiveFields)
	case p.fields > 6:
		return nil, p.fail(all(parts[6:]), "a schedule has 5 fields, or 6 with the seconds first; there is no field for the year",
			"for one run use @at TIME")
	}
	if err := p.masks(c, parts); err != nil {
		return nil, err
	}
	clock := p.text[:parts[1].end]
	c.interval = strings.ContainsAny(clock, "*?/") || c.hours == 1<<24-1
	if !c.dates.seal() {
		p.field = &dayField
		return nil, p.fail(all(parts[2:]), "no day of any year matches, so it would never fire", "correct the day of month, the month or the weekday")
	}
	return c, nil
}

// masks reads the five fields from the minute on.
func (p *parser) masks(c *cron, parts []span) error {
	var masks [5]uint64
	for i, f := range [5]*field{&minuteField, &hourField, &dayField, &monthField, &weekdayField} {
		mask, err := p.list(f, parts[i])
		if err != nil {
			return err
		}
		masks[i] = mask
	}
	c.minutes, c.hours = masks[0], uint32(masks[1])
	c.dates = dates{days: uint32(masks[2]), months: uint16(masks[3]), weeks: masks[4]*everyWeek | p.nth}
	c.dates.either = !isStar(p.at(parts[2])) && !isStar(p.at(parts[4]))
	if p.special != (specialDays{}) {
		special := p.special
		c.dates.special = &special
	}
	return nil
}

// isStar is the test of Vixie cron: the field's first character alone decides.
func isStar(text string) bool { return text[0] == '*' || text[0] == '?' }

// list reads a field and returns its values as bits. Days that depend on the month go to p.special
// and p.nth.
func (p *parser) list(f *field, s span) (uint64, error) {
	p.field = f
	var values uint64
	for start := s.start; ; {
		end := start
		for end < s.end && p.text[end] != ',' {
			end++
		}
		item := span{start, end}
		if start == end {
			return 0, p.fail(s, "an item of the list is empty", "remove the comma, or write a value beside it")
		}
		bits, err := p.item(item)
		if err != nil {
			return 0, err
		}
		values |= bits
		if end == s.end {
			return values, nil
		}
		start = end + 1
	}
}

// item reads one item of a list.
func (p *parser) item(s span) (uint64, error) {
	body, step, hasStep := s, 1, false
	for i := s.start; i < s.end; i++ {
		if p.text[i] == '/' {
			body, hasStep = span{s.start, i}, true
			break
		}
	}
	if hasStep {
		n, err := p.step(span{body.end + 1, s.end}, s)
		if err != nil {
			return 0, err
		}
		step = n
	}
	text := p.at(body)
	switch {
	case text == "*" || text == "?":
		return p.steps(p.field.min, p.field.max, step), nil
	case text == "":
		return 0, p.fail(s, "nothing is written before the step", "write */n for the whole field")
	case text[0] == 'H' || text[0] == 'h':
		return p.hashed(body, step, hasStep)
	}
	if done, err := p.specialDay(body, s, hasStep); done || err != nil {
		return 0, err
	}
	return p.valueOrRange(body, step, hasStep)
}

// step reads the number after the slash of an item.
func (p *parser) step(s, item span) (int, error) {
	n, ok := number(p.at(s))
	longest := p.field.max - p.field.min
	switch {
	case !ok || n == 0:
		return 0, p.fail(s.orBefore(item), fmt.Sprintf("the step of the %s is a number from 1 to %d", p.field.name, longest), p.hint())
	case n > longest:
		return 0, p.fail(s, fmt.Sprintf("the step is longer than the field: it would fire at the first value only; %s", p.field.allowed),
			fmt.Sprintf("write a step up to %d, or that value alone", longest))
	}
	return n, nil
}

// orBefore returns the span, or if it is empty the one that it should have been in.
func (s span) orBefore(outer span) span {
	if s.start == s.end {
		return outer
	}
	return s
}

// number reads a number without a sign. Numbers above 999 are returned as some number above 999.
func number(text string) (int, bool) {
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = min(n*10+int(text[i]-'0'), 1000)
	}
	return n, text != ""
}

// valueOrRange reads a, a-b, each of them with a step.
func (p *parser) valueOrRange(s span, step int, hasStep bool) (uint64, error) {
	text := p.at(s)
	dash := strings.IndexByte(text, '-')
	if dash < 0 {
		a, err := p.value(s)
		if err != nil {
			return 0, err
		}
		if a > p.field.max {
			a = p.field.min // 7 is Sunday
		}
		if hasStep {
			return p.steps(a, p.field.max, step), nil
		}
		return 1 << a, nil
	}
	if dash == 0 || dash == len(text)-1 {
		return 0, p.fail(s, "a range needs a first and a last value, and values have no sign; "+p.field.allowed, "write it like a-b")
	}
	a, err := p.value(span{s.start, s.start + dash})
	if err != nil {
		return 0, err
	}
	b, err := p.value(span{s.start + dash + 1, s.end})
	if err != nil {
		return 0, err
	}
	if a > p.field.max { // 7-2 begins with Sunday, and 7-7 is only that
		a = p.field.min
		if b > p.field.max {
			b = a
		}
	}
	return p.steps(a, b, step), nil
}

// steps returns every step-th value from a to b; where b is less than a, they go over the field's
// end and on from its start.
func (p *parser) steps(a, b, step int) uint64 {
	size := p.field.max - p.field.min + 1
	if b < a {
		b += size
	}
	var values uint64
	for v := a; v <= b; v += step {
		if v > p.field.max {
			values |= 1 << (v - size)
		} else {
			values |= 1 << v
		}
	}
	return values
}

// value reads a number or name. A weekday can be 7.
func (p *parser) value(s span) (int, error) {
	text := p.at(s)
	n, ok := number(text)
	if !ok {
		if n, ok = p.field.named(text); ok {
			return n, nil
		}
		return 0, p.unknown(s)
	}
	longest := p.field.max
	if p.field == &weekdayField {
		longest = 7
	}
	if n < p.field.min || n > longest {
		return 0, p.fail(s, p.field.allowed, p.hint())
	}
	return n, nil
}

// named returns the value of a name, in letters of any case.
func (f *field) named(text string) (int, bool) {
	if len(text) != 3 {
		return 0, false
	}
	for i := 0; i < len(f.names); i += 3 {
		if strings.EqualFold(f.names[i:i+3], text) {
			return f.min + i/3, true
		}
	}
	return 0, false
}

// unknown says what is wrong with a text that is neither a number nor a name.
func (p *parser) unknown(s span) error {
	text := strings.ToUpper(p.at(s))
	hint := p.hint()
	switch {
	case len(text) > 3 && p.field.names != "" && p.isName(text[:3]):
		hint = "names have three letters: write " + text[:3]
	case p.field == &weekdayField && text == "L":
		hint = "for the last Saturday of the month write SATL, for every Saturday SAT"
	case strings.ContainsAny(text, "LW") && p.field != &dayField && p.field != &weekdayField:
		hint = "L and W belong to the day of month and the weekday"
	case strings.Contains(text, "#"):
		hint = "# belongs to the weekday: MON#2 is the second Monday"
	case strings.HasPrefix(text, "+"):
		hint = "write numbers without a sign"
	}
	return p.fail(s, p.field.allowed, hint)
}

func (p *parser) isName(text string) bool {
	_, ok := p.field.named(text)
	return ok
}

// hint tells how the fields are read: a value in the wrong field is the usual mistake.
func (p *parser) hint() string {
	if p.fields == 6 {
		return sixFields
	}
	return fiveFields
}
