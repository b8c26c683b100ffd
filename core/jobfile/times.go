package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// times is when a job is due.
type times struct {
	schedule *schedule.Schedule
	gap      time.Duration // the least time between two runs
}

// timesKey names what makes a schedule, so that equal ones are made once and shared: jobs by
// the hundred thousand have few different ones.
type timesKey struct {
	text string
	zone *schedule.Zone
	dst  schedule.DST
}

// times reads when the job is due.
func (l *loader) times(f *fields, own, shared settings) times {
	o := schedule.Options{
		Zone: cmp.Or(own.zone, shared.zone, l.utc),
		DST:  completeDST(pick(own.dst, shared.dst, schedule.DST{})),
		Job:  f.owner.job,
	}
	if f.has("offset") && !f.has("every") {
		f.refuse(f.at("offset"), Diagnostic{
			Code: BadSchedule, Summary: "offset shifts every, and there is no every",
			Fix: `Write every = "1h" and offset = "5m", or put the time into the schedule.`,
		})
	}
	var found *schedule.Schedule
	switch f.onlyOneOf("schedule", "every", "at") {
	case "schedule":
		found = l.cron(f, o)
	case "every":
		found = l.every(f, o)
	case "at":
		found = l.once(f)
	}
	if found == nil {
		f.bad = true
		return times{}
	}
	return times{schedule: found, gap: found.MinGap()}
}

// onlyOneOf returns which of the attributes is written, and reports none and several.
func (f *fields) onlyOneOf(names ...string) string {
	found := ""
	for _, name := range names {
		switch {
		case !f.has(name):
		case found == "":
			found = name
		default:
			f.refuse(f.src.at(f.body.Attributes[name].NameRange), Diagnostic{
				Code:    BadSchedule,
				Summary: fmt.Sprintf("the job has both %s and %s", found, name),
				Fix:     "Remove one: a schedule may be a list.",
			})
		}
	}
	if found == "" {
		f.require(Diagnostic{
			Summary: "the job doesn't say when it is due",
			Fix:     `Add schedule = "30 2 * * *", every = "15m", or at = "2027-01-01T00:00:00Z".`,
		})
	}
	return found
}

// cron reads the schedule attribute: one text, or a list of them.
func (l *loader) cron(f *fields, o schedule.Options) *schedule.Schedule {
	a := f.body.Attributes["schedule"]
	at := f.src.at(a.SrcRange)
	f.marks = append(f.marks, mark{"schedule", at.start, at.end})
	list, isList := unwrap(a.Expr).(*hclsyntax.TupleConsExpr)
	if !isList {
		s, _ := l.cronText(f, a.Expr, "schedule", o)
		return s
	}
	if len(list.Exprs) == 0 {
		f.refuse(f.at("schedule"), Diagnostic{Code: BadSchedule, Summary: "the list of schedules is empty", Fix: "Write at least one."})
		return nil
	}
	parts := make([]*schedule.Schedule, 0, len(list.Exprs))
	texts := make([]string, 0, len(list.Exprs))
	for i, x := range list.Exprs {
		if part, text := l.cronText(f, x, fmt.Sprintf("schedule[%d]", i), o); part != nil {
			parts, texts = append(parts, part), append(texts, text)
		}
	}
	if len(parts) < len(list.Exprs) {
		return nil
	}
	s, err := l.shared(strings.Join(texts, "\n"), o, func() (*schedule.Schedule, error) {
		return schedule.Union(parts...), nil
	})
	if err != nil {
		f.refuseSchedule(f.at("schedule"), "", BadSchedule, err)
	}
	return s
}

// cronText reads one schedule and returns its text too. Where it is wrong the carets stand
// under the very characters.
func (l *loader) cronText(f *fields, x hclsyntax.Expression, name string, o schedule.Options) (*schedule.Schedule, string) {
	text, inner, plain := f.src.literal(x)
	if !plain {
		v, ok := f.evaluate(x, name, cty.String, `"30 2 * * *"`)
		if !ok {
			return nil, ""
		}
		text, inner = v.AsString(), f.src.at(x.Range())
	}
	s, err := l.shared(text, o, func() (*schedule.Schedule, error) { return schedule.Parse(text, o) })
	if err != nil {
		f.refuseSchedule(inner, text, BadSchedule, err)
	}
	return s, text
}

// shared returns the schedule that was made of the text before, or makes it. H stands for a
// number made of the job's name: such a schedule is the job's own.
func (l *loader) shared(text string, o schedule.Options, parse func() (*schedule.Schedule, error)) (*schedule.Schedule, error) {
	key := timesKey{text, o.Zone, o.DST}
	if kept := l.schedules[key]; kept != nil {
		return kept, nil
	}
	s, err := parse()
	if err != nil {
		return nil, err
	}
	if !strings.Contains(text, "H") {
		l.schedules[key] = s
	}
	return s, nil
}

// refuseSchedule reports what package schedule says about text, which stands at p.
func (f *fields) refuseSchedule(p place, text string, code Code, err error) {
	e, ok := errors.AsType[*schedule.ParseError](err)
	if !ok {
		f.refuse(p, Diagnostic{Code: code, Summary: err.Error()})
		return
	}
	if int(p.end-p.start) == len(text) && e.Offset >= 0 && e.Offset <= len(text) {
		p = p.cut(e.Offset, e.Len)
	}
	f.refuse(p, Diagnostic{Code: code, Summary: e.Msg, Fix: sentence(e.Hint)})
}

// every reads an interval: epoch + n × every + offset, the same on every instance.
func (l *loader) every(f *fields, o schedule.Options) *schedule.Schedule {
	every := f.duration("every", time.Second, longest)
	offset := f.duration("offset", 0, longest)
	if every == nil || f.has("offset") && offset == nil {
		return nil
	}
	if offset != nil && *offset >= *every {
		f.refuse(f.at("offset"), Diagnostic{
			Code:    BadDuration,
			Summary: fmt.Sprintf("offset is %s; it must be less than every, which is %s", job.FormatDuration(*offset), job.FormatDuration(*every)),
			Fix:     fmt.Sprintf("The same slots have the offset %s.", job.FormatDuration(*offset%*every)),
		})
		return nil
	}
	phase := pick(offset, nil, 0)
	s, err := l.shared(fmt.Sprintf("\nevery %d %d", *every, phase), o, func() (*schedule.Schedule, error) {
		return schedule.Every(*every, phase, o)
	})
	if err != nil {
		f.refuseSchedule(f.at("every"), "", BadSchedule, err)
	}
	return s
}

// once reads a single slot.
func (l *loader) once(f *fields) *schedule.Schedule {
	text := f.text("at", `"2027-01-01T00:00:00Z"`)
	if text == nil {
		return nil
	}
	t, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		f.refuse(f.at("at"), Diagnostic{
			Code:    BadSchedule,
			Summary: fmt.Sprintf("%s isn't a time", shorten(*text)),
			Fix:     `Write it with its offset from UTC: "2027-01-01T00:00:00Z" or "2027-01-01T01:00:00+01:00".`,
		})
		return nil
	}
	s, err := schedule.At(t)
	if err != nil {
		f.refuseSchedule(f.at("at"), "", BadSchedule, err)
		return nil
	}
	return s
}

// zone reads the time zone.
func (f *fields) zone() *schedule.Zone {
	name := f.text("time_zone", `"Europe/Berlin"`)
	if name == nil {
		return nil
	}
	zone, err := schedule.LoadZone(*name)
	if err != nil {
		x := f.body.Attributes["time_zone"].Expr
		_, inner, plain := f.src.literal(x)
		if !plain {
			inner = f.src.at(x.Range())
		}
		f.refuseSchedule(inner, *name, BadZone, err)
		return nil
	}
	return zone
}

// dst reads the block that says what happens when the clocks change.
func (f *fields) dst() *schedule.DST {
	b := f.within("dst", shape{what: "the dst block", attributes: []string{"gap", "overlap"}})
	if b == nil {
		return nil
	}
	d := schedule.DST{
		Gap:     pick(choice[schedule.Gap](b, "gap", "shift", "end", "skip"), nil, ""),
		Overlap: pick(choice[schedule.DSTOverlap](b, "overlap", "first", "second", "both"), nil, ""),
	}
	f.bad = f.bad || b.bad
	return &d
}

// completeDST returns d with its defaults written out, so that equal jobs have equal hashes.
func completeDST(d schedule.DST) schedule.DST {
	if d.Gap == "" {
		d.Gap = "shift"
	}
	if d.Overlap == "" {
		d.Overlap = "first"
	}
	return d
}
