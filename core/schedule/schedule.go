package schedule

import "time"

// Gap says what becomes of a reading that doesn't exist because the clock is put forward.
type Gap string

// What becomes of a reading in a gap.
const (
	// GapShift counts it with the offset from before the gap: where 02:00 becomes 03:00, 02:30
	// is run at 03:30. It is the default.
	GapShift Gap = "shift"
	// GapEnd moves it to the end of the gap, 03:00.
	GapEnd Gap = "end"
	// GapSkip drops it.
	GapSkip Gap = "skip"
)

// DSTOverlap says what becomes of a reading that exists twice because the clock is put back. It
// doesn't concern schedules that are intervals (see the package's documentation).
type DSTOverlap string

// Which passes of an overlap count.
const (
	// OverlapFirst runs only at the earlier of the two instants. It is the default.
	OverlapFirst DSTOverlap = "first"
	// OverlapSecond runs only at the later one.
	OverlapSecond DSTOverlap = "second"
	// OverlapBoth runs at both.
	OverlapBoth DSTOverlap = "both"
)

// DST says what happens at zone changes. The zero value means the defaults.
type DST struct {
	Gap     Gap
	Overlap DSTOverlap
}

// Options is what the meaning of a schedule depends on beside its text.
type Options struct {
	// Zone is where the clock hangs whose readings are meant; nil means UTC.
	Zone *Zone
	// DST says what happens at the zone's changes.
	DST DST
	// Job is the name of the job, from which H picks values. H is an error without it.
	Job string
}

// Schedule is a set of slots. It never changes and may be used concurrently.
//
// Two schedules made from equal arguments have the same slots, on every instance.
type Schedule struct {
	rule rule
}

// rule is one kind of schedule. Instants are in seconds since the epoch.
type rule interface {
	// next returns the first slot at or after t, or never.
	next(t int64) int64
	// minGap returns the least gap in seconds, or never where there is at most one slot.
	minGap() int64
	// explain returns what is special about the slot t, and whether t is one.
	explain(t int64) (note string, ok bool)
	// night returns what happens at the start of period i of the zone, or "".
	night(i int) string
	timeZone() *Zone
	changes() DST
	words() string
	notes() []string
	String() string
}

// Every returns the schedule of all slots that are a multiple of every after the Unix epoch, plus
// offset: the same on every instance, whenever it was started. every is 1 second to 366 days,
// offset is not negative and less than every; both are whole seconds. The zone is only for
// display. Errors are a [*ParseError].
func Every(every, offset time.Duration, o Options) (*Schedule, error) {
	if err := checkInterval(every); err != nil {
		return nil, err
	}
	if err := checkOffset(every, offset); err != nil {
		return nil, err
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	return &Schedule{interval{every: int64(every / time.Second), offset: int64(offset / time.Second), zone: o.Zone}}, nil
}

// At returns the schedule of one slot. t is a whole second of the years 1970 to 2199; else the
// error is a [*ParseError].
func At(t time.Time) (*Schedule, error) {
	o, err := once(t, utc)
	if err != nil {
		return nil, err
	}
	return &Schedule{o}, nil
}

// Union returns the schedule of all slots of the given ones. Slots in common are one slot.
func Union(schedules ...*Schedule) *Schedule {
	if len(schedules) == 1 {
		return schedules[0]
	}
	var all union
	for _, s := range schedules {
		if u, ok := s.rule.(union); ok {
			all = append(all, u...)
		} else {
			all = append(all, s.rule)
		}
	}
	return &Schedule{all}
}

// Next returns the first slot that is later than after; false means that there is none. Slots end
// with the year 2199. Next doesn't allocate.
func (s *Schedule) Next(after Slot) (Slot, bool) {
	t := max(after.seconds()+1, earliest)
	if t > latest {
		return 0, false
	}
	t = s.rule.next(t)
	if t > latest {
		return 0, false
	}
	return slotAt(t), true
}

// earliest and latest bound the slots: 1900-01-01 00:00:00 and 2199-12-31 23:59:59 UTC.
const earliest, latest = -2208988800, 7258118399

// MinGap returns the least time between two slots of the schedule, over the 400 years after which
// the calendar repeats; 0 where there is at most one slot. It is exact except that zone changes,
// which can bring two slots nearer, aren't looked at; and that for a [Union] of an interval and a
// cron expression, or of several zones, the result can be less than the real gap (never more).
func (s *Schedule) MinGap() time.Duration {
	gap := s.rule.minGap()
	if gap == never {
		return 0
	}
	return time.Duration(gap) * time.Second
}

// Zone returns the zone in which the schedule's text is read and its slots are best shown.
func (s *Schedule) Zone() *Zone { return s.rule.timeZone() }

// DST returns what the schedule was told to do when clocks change, defaults filled in. One without
// readings, of [Every] or [At], has the zero value; for a [Union] it is that of its first part
// with readings.
func (s *Schedule) DST() DST { return s.rule.changes() }

// String returns the schedule's text in its canonical form: [Parse] makes the same schedule of it,
// given the same options, unless the schedule is a [Union].
func (s *Schedule) String() string { return s.rule.String() }

// Words returns the schedule in English, such as "at 02:30 on Monday".
func (s *Schedule) Words() string { return s.rule.words() }

// Notes returns what could surprise the author of the schedule, a sentence each: how six fields
// are read, steps that don't divide their field, and fields that combine in an unusual way.
func (s *Schedule) Notes() []string { return s.rule.notes() }

// Explain returns what is special about a slot of the schedule: "moved: 02:30 does not exist",
// "second pass" (of an overlap), or "".
func (s *Schedule) Explain(slot Slot) string {
	note, _ := s.rule.explain(slot.seconds())
	return note
}

// complete returns the options with their defaults, or what is wrong with them.
func (o Options) complete() (Options, error) {
	if o.Zone == nil {
		o.Zone = utc
	}
	switch o.DST.Gap {
	case "":
		o.DST.Gap = GapShift
	case GapShift, GapEnd, GapSkip:
	default:
		return o, optionError("dst.gap", string(o.DST.Gap), `it must be "shift", "end" or "skip"`)
	}
	switch o.DST.Overlap {
	case "":
		o.DST.Overlap = OverlapFirst
	case OverlapFirst, OverlapSecond, OverlapBoth:
	default:
		return o, optionError("dst.overlap", string(o.DST.Overlap), `it must be "first", "second" or "both"`)
	}
	return o, nil
}

func optionError(field, value, msg string) error {
	return &ParseError{Field: field, Len: len(value), Value: value, Msg: msg, Hint: "leave it out for the default"}
}
