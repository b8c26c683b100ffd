package schedule

import "strings"

// specialDay reads L, L-n, LW, L-nW, nW of the day of month and d#n, dL of the weekday into p.special
// and p.nth. It reports whether the text is one of them.
func (p *parser) specialDay(s, item span, hasStep bool) (bool, error) {
	text := p.at(s)
	var err error
	last := text[len(text)-1] | 0x20 // in lower case
	switch {
	case p.field == &dayField && (text[0]|0x20 == 'l' || last == 'w'):
		err = p.specialDayOfMonth(s)
	case p.field == &weekdayField && strings.IndexByte(text, '#') >= 0:
		err = p.nthWeekday(s)
	case p.field == &weekdayField && last == 'l' && len(text) > 1:
		err = p.lastWeekday(s)
	default:
		return false, nil
	}
	if err == nil && hasStep {
		err = p.fail(item, "L, W and # are single days and take no step", "remove the step")
	}
	return true, err
}

func (p *parser) specialDayOfMonth(s span) error {
	text := p.at(s)
	workday := text[len(text)-1]|0x20 == 'w'
	if workday {
		text = text[:len(text)-1]
	}
	if text == "" || text[0]|0x20 != 'l' { // nW
		n, ok := number(text)
		if !ok || n < 1 || n > 31 {
			return p.fail(s, "the day of month before W goes from 1 to 31", "15W is the workday nearest to the 15th")
		}
		p.special.near |= 1 << n
		return nil
	}
	n := 0
	if text = text[1:]; text != "" {
		ok := text[0] == '-'
		if ok {
			n, ok = number(text[1:])
		}
		if !ok || n > 30 {
			return p.fail(s, "L is the last day of the month, L-n the day n days before it, n from 0 to 30", "write it like L, L-3, LW or L-3W")
		}
	}
	if workday {
		p.special.nearFromEnd |= 1 << n
	} else {
		p.special.fromEnd |= 1 << n
	}
	return nil
}

func (p *parser) nthWeekday(s span) error {
	hash := s.start + strings.IndexByte(p.at(s), '#')
	day, err := p.value(span{s.start, hash})
	if err != nil {
		return err
	}
	n, ok := number(p.text[hash+1 : s.end])
	if !ok || n < 1 || n > 5 {
		return p.fail(span{hash + 1, s.end}.orBefore(s), "the week after # goes from 1 to 5", "MON#2 is the second Monday of the month")
	}
	p.nth |= 1 << (7*(n-1) + day%7)
	return nil
}

func (p *parser) lastWeekday(s span) error {
	day, err := p.value(span{s.start, s.end - 1})
	if err != nil {
		return err
	}
	p.special.last |= 1 << (day % 7)
	return nil
}
