package schedule

import (
	"slices"
	"strings"
)

// union is the rule of all slots of several rules.
type union []rule

func (u union) next(t int64) int64 {
	first := never
	for _, r := range u {
		first = min(first, r.next(t))
	}
	return first
}

// explain prefers the rule in which the slot is nothing special.
func (u union) explain(t int64) (note string, ok bool) {
	for _, r := range u {
		n, is := r.explain(t)
		if is && n == "" {
			return "", true
		}
		if is {
			note, ok = n, true
		}
	}
	return note, ok
}

func (u union) night(i int) string {
	return u.join("; ", func(r rule) string {
		if r.timeZone() != u.timeZone() {
			return "" // another zone's periods
		}
		return r.night(i)
	})
}

func (u union) timeZone() *Zone {
	if len(u) == 0 {
		return utc
	}
	return u[0].timeZone()
}

func (u union) changes() DST {
	for _, r := range u {
		if dst := r.changes(); dst != (DST{}) {
			return dst
		}
	}
	return DST{}
}

func (u union) notes() []string {
	var all []string
	for _, r := range u {
		for _, note := range r.notes() {
			if !slices.Contains(all, note) {
				all = append(all, note)
			}
		}
	}
	return all
}

func (u union) words() string { return u.join("; ", rule.words) }

func (u union) String() string { return u.join(" | ", rule.String) }

// join joins the distinct texts of the rules.
func (u union) join(separator string, text func(rule) string) string {
	var texts []string
	for _, r := range u {
		if s := text(r); s != "" && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, separator)
}
