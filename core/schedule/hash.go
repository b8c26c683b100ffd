package schedule

import (
	"strconv"
	"strings"
)

// hashed reads H, H/n, H(a-b) and H(a-b)/n: values picked by the job's name, so that many jobs
// with the same text spread over the field and each keeps its own time.
func (p *parser) hashed(s span, step int, hasStep bool) (uint64, error) {
	if p.options.Job == "" {
		return 0, p.fail(s, "H picks a value by the job's name, and there is no job here", "write a number instead")
	}
	low, high := p.field.min, p.field.max
	if p.field == &dayField {
		high = 28 // every month has these days
	}
	if len(p.at(s)) > 1 {
		var err error
		if low, high, err = p.hashRange(s); err != nil {
			return 0, err
		}
	}
	hash := jobHash(p.options.Job, p.field.name)
	if !hasStep {
		return 1 << (low + int(hash%uint64(high-low+1))), nil
	}
	if step > high-low {
		return 0, p.fail(s, "the step is longer than the range of H", "write a smaller step, or H without one")
	}
	return p.steps(low+int(hash%uint64(step)), high, step), nil
}

// hashRange reads the range of H(a-b).
func (p *parser) hashRange(s span) (low, high int, err error) {
	const msg = "H is written as H, H/n, H(a-b) or H(a-b)/n"
	text := p.at(s)
	dash := strings.IndexByte(text, '-')
	if text[1] != '(' || text[len(text)-1] != ')' || dash < 0 {
		return 0, 0, p.fail(s, msg, "H(0-29) picks a value from 0 to 29")
	}
	if low, err = p.value(span{s.start + 2, s.start + dash}); err != nil {
		return 0, 0, err
	}
	if high, err = p.value(span{s.start + dash + 1, s.end - 1}); err != nil {
		return 0, 0, err
	}
	if low > high || high > p.field.max {
		return 0, 0, p.fail(s, "the range of H doesn't run backwards; "+p.field.allowed,
			"write H("+strconv.Itoa(p.field.min)+"-"+strconv.Itoa(p.field.max)+") or less")
	}
	return low, high, nil
}

// jobHash is FNV-1a (64 bits) of the job's name, a zero byte and the field's name, with its upper
// half folded into the lower one: FNV's lowest bits depend on the lowest bits of the text alone, and
// a job's minute would then say much about its hour. It must never change: every H would move.
func jobHash(job, fieldName string) uint64 {
	const offsetBasis, prime = 14695981039346656037, 1099511628211
	hash := uint64(offsetBasis)
	for _, text := range [...]string{job, "\x00", fieldName} {
		for i := range len(text) {
			hash = (hash ^ uint64(text[i])) * prime
		}
	}
	return hash ^ hash>>32
}
