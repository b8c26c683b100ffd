package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// expression is a cron expression beside what it means, said in the simplest possible way.
type expression struct {
	text     string
	matches  func(reading time.Time) bool
	onDay    func(midnight time.Time) bool // whether a day has any matching reading
	interval bool                          // it runs in both passes of an overlap
	second   bool                          // it has a field for seconds
}

// fieldCase is the text of one field and its values.
type fieldCase struct {
	text   string
	values map[int]bool
}

// drawField draws a field with values from low to high.
func drawField(t *rapid.T, name string, low, high int) fieldCase {
	f := fieldCase{values: map[int]bool{}}
	size := high - low + 1
	var items []string
	for range rapid.IntRange(1, 3).Draw(t, name+" items") {
		a := rapid.IntRange(low, high).Draw(t, name+" a")
		b := rapid.IntRange(low, high).Draw(t, name+" b")
		step := rapid.IntRange(1, size-1).Draw(t, name+" step")
		var item string
		var first, count, every int // the values are first, first + every ... count of the field's places on
		switch rapid.IntRange(0, 6).Draw(t, name+" kind") {
		case 0:
			item, first, count, every = "*", low, size, 1
		case 1:
			item, first, count, every = fmt.Sprintf("*/%d", step), low, size, step
		case 2:
			item, first, count, every = fmt.Sprintf("%d-%d", a, b), a, (b-a+size)%size+1, 1
		case 3:
			item, first, count, every = fmt.Sprintf("%d-%d/%d", a, b, step), a, (b-a+size)%size+1, step
		case 4:
			item, first, count, every = fmt.Sprintf("%d/%d", a, step), a, high-a+1, step
		default:
			item, first, count, every = fmt.Sprint(a), a, 1, 1
		}
		for i := 0; i < count; i += every {
			f.values[low+(first-low+i)%size] = true
		}
		items = append(items, item)
	}
	f.text = strings.Join(items, ",")
	return f
}

// special is a day of month or weekday that depends on the month.
type special struct {
	text    string
	matches func(day time.Time) bool
}

func lastOfMonth(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
}

func isWorkday(day time.Time) bool {
	return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday
}

// nearest looks for a workday in the month of day, further and further away; the earlier one wins
// only for a Saturday, whose Friday is nearer than its Monday.
func nearest(day time.Time) time.Time {
	for distance := range 4 {
		for _, d := range []int{-distance, distance} {
			if c := day.AddDate(0, 0, d); c.Month() == day.Month() && isWorkday(c) {
				return c
			}
		}
	}
	panic("a month without workdays")
}

func drawSpecialDay(t *rapid.T) special {
	n := rapid.IntRange(0, 30).Draw(t, "n")
	ofEnd := func(day time.Time) time.Time { return lastOfMonth(day).AddDate(0, 0, -n) }
	switch rapid.IntRange(0, 4).Draw(t, "special day") {
	case 0:
		return special{"L", func(day time.Time) bool { return day.Day() == lastOfMonth(day).Day() }}
	case 1:
		return special{fmt.Sprintf("L-%d", n), func(day time.Time) bool { return ofEnd(day).Equal(day) }}
	case 2:
		return special{"LW", func(day time.Time) bool { return nearest(lastOfMonth(day)).Equal(day) }}
	case 3:
		return special{fmt.Sprintf("L-%dW", n), func(day time.Time) bool {
			return ofEnd(day).Month() == day.Month() && nearest(ofEnd(day)).Equal(day)
		}}
	default:
		return special{fmt.Sprintf("%dW", n+1), func(day time.Time) bool {
			target := time.Date(day.Year(), day.Month(), n+1, 0, 0, 0, 0, time.UTC)
			return target.Month() == day.Month() && nearest(target).Equal(day)
		}}
	}
}

func drawSpecialWeekday(t *rapid.T) special {
	w := rapid.IntRange(0, 6).Draw(t, "weekday")
	n := rapid.IntRange(1, 5).Draw(t, "nth")
	if rapid.Bool().Draw(t, "last weekday") {
		return special{fmt.Sprintf("%dL", w), func(day time.Time) bool {
			return int(day.Weekday()) == w && day.AddDate(0, 0, 7).Month() != day.Month()
		}}
	}
	return special{fmt.Sprintf("%d#%d", w, n), func(day time.Time) bool {
		return int(day.Weekday()) == w && (day.Day()-1)/7+1 == n
	}}
}

// drawExpression draws an expression with every part of the language but H, names and macros.
func drawExpression(t *rapid.T) expression {
	second, minute := fieldCase{"0", map[int]bool{0: true}}, drawField(t, "minute", 0, 59)
	hour, month := drawField(t, "hour", 0, 23), drawField(t, "month", 1, 12)
	day, weekday := drawField(t, "day", 1, 31), drawField(t, "weekday", 0, 6)
	dayMatches := func(r time.Time) bool { return day.values[r.Day()] }
	weekdayMatches := func(r time.Time) bool { return weekday.values[int(r.Weekday())] }
	if rapid.Bool().Draw(t, "every month") {
		month = fieldCase{"*", map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true}}
	}
	switch rapid.IntRange(0, 7).Draw(t, "days") {
	case 0:
		s := drawSpecialDay(t)
		day.text, dayMatches = s.text, s.matches
	case 1:
		s := drawSpecialWeekday(t)
		weekday.text, weekdayMatches = s.text, s.matches
	case 2:
		day = fieldCase{text: "?"}
		dayMatches = func(time.Time) bool { return true }
	case 3:
		weekday = fieldCase{text: "*"}
		weekdayMatches = func(time.Time) bool { return true }
	case 4, 5:
		day, weekday = fieldCase{text: "*"}, fieldCase{text: "?"}
		dayMatches = func(time.Time) bool { return true }
		weekdayMatches = dayMatches
	}
	text := strings.Join([]string{minute.text, hour.text, day.text, month.text, weekday.text}, " ")
	e := expression{second: rapid.Bool().Draw(t, "seconds")}
	if e.second {
		second = drawField(t, "second", 0, 59)
		text = second.text + " " + text
	}
	e.text = text
	e.interval = strings.ContainsAny(second.text+minute.text+hour.text, "*/") || len(hour.values) == 24
	both := strings.ContainsAny(day.text[:1]+weekday.text[:1], "*?")
	e.onDay = func(midnight time.Time) bool {
		switch {
		case !month.values[int(midnight.Month())]:
			return false
		case both:
			return dayMatches(midnight) && weekdayMatches(midnight)
		default:
			return dayMatches(midnight) || weekdayMatches(midnight)
		}
	}
	e.matches = func(r time.Time) bool {
		return second.values[r.Second()] && minute.values[r.Minute()] && hour.values[r.Hour()] && e.onDay(r.Truncate(24*time.Hour))
	}
	return e
}

// wallClock is what a clock in some zone shows around a span of time, one grain after the other. It
// uses package time's zones only.
type wallClock struct {
	from, to int64
	step     int64
	first    int64     // the first reading
	passes   [][]int64 // by reading, from the first on: the instants that have it
	offset   func(t int64) int64
}

func watch(zone *time.Location, from, to time.Time, grain time.Duration) *wallClock {
	w := &wallClock{from: from.Unix(), to: to.Unix(), step: int64(grain / time.Second)}
	w.offset = func(t int64) int64 {
		_, o := time.Unix(t, 0).In(zone).Zone()
		return int64(o)
	}
	change := w.offset(w.to) - w.offset(w.from)
	margin := max(change, -change) + 3600 // readings near the ends may have their other pass outside
	start, end := w.from-margin, w.to+margin
	w.first = start + w.offset(start)
	w.passes = make([][]int64, (end+w.offset(end)-w.first)/w.step)
	instants := make([]int64, 0, (end-start)/w.step)
	for t := start; t < end; t += w.step {
		i := (t + w.offset(t) - w.first) / w.step
		if i < 0 || i >= int64(len(w.passes)) {
			continue
		}
		if len(w.passes[i]) == 0 {
			instants = append(instants, t)
			w.passes[i] = instants[len(instants)-1:]
		} else {
			w.passes[i] = append(slices.Clip(w.passes[i]), t)
		}
	}
	return w
}

// slots finds the slots of an expression by looking at every reading.
func (w *wallClock) slots(e expression, dst schedule.DST) []schedule.Slot {
	var slots []schedule.Slot
	add := func(t int64) {
		if t >= w.from && t < w.to {
			slots = append(slots, schedule.Slot(t*1000))
		}
	}
	before := w.passes[0][0] // the last instant whose reading was reached
	for i, instants := range w.passes {
		r := w.first + int64(i)*w.step
		if len(instants) > 0 {
			before = instants[0]
		}
		if !e.matches(time.Unix(r, 0).UTC()) {
			continue
		}
		switch {
		case len(instants) == 0 && dst.Gap == schedule.GapShift:
			add(r - w.offset(before))
		case len(instants) == 0 && dst.Gap == schedule.GapEnd:
			add(before + w.step)
		case len(instants) == 0:
		case e.interval || dst.Overlap == schedule.OverlapBoth:
			for _, t := range instants {
				add(t)
			}
		case dst.Overlap == schedule.OverlapSecond:
			add(instants[len(instants)-1])
		default:
			add(instants[0])
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// slotsBetween returns the schedule's slots from one instant to before another.
func slotsBetween(s *schedule.Schedule, from, to time.Time) []schedule.Slot {
	var slots []schedule.Slot
	end := schedule.SlotOf(to)
	for slot, ok := s.Next(schedule.SlotOf(from) - 1); ok && slot < end; slot, ok = s.Next(slot) {
		slots = append(slots, slot)
	}
	return slots
}

// changes are instants near which zones do unusual things, beside an ordinary one.
var changes = []struct {
	zone string
	near string
}{
	{"UTC", "2024-02-29T00:00:00Z"},
	{"Europe/Berlin", "2026-03-29T01:00:00Z"},
	{"Europe/Berlin", "2026-10-25T01:00:00Z"},
	{"America/New_York", "2026-03-08T07:00:00Z"},
	{"America/New_York", "2026-11-01T06:00:00Z"},
	{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"}, // half an hour
	{"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
	{"America/Sao_Paulo", "2018-11-04T03:00:00Z"}, // a gap at midnight
	{"America/Sao_Paulo", "2018-02-18T02:00:00Z"},
	{"Pacific/Apia", "2011-12-30T10:00:00Z"},      // a day that doesn't exist
	{"Pacific/Kwajalein", "1993-08-21T12:00:00Z"}, // another one
	{"America/Caracas", "2016-05-01T07:00:00Z"},   // offset changes without DST
	{"Asia/Pyongyang", "2015-08-14T15:00:00Z"},
	{"Africa/Casablanca", "2026-02-15T02:00:00Z"}, // DST of a month
	{"Antarctica/Troll", "2026-03-29T01:00:00Z"},  // two hours
	{"Asia/Kathmandu", "1985-12-31T18:30:00Z"},    // a quarter of an hour
	{"America/New_York", "2150-11-01T06:00:00Z"},  // far behind the zone's file
}

func drawOptions(t *rapid.T, zone string) (schedule.Options, *time.Location) {
	z, err := schedule.LoadZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	dst := schedule.DST{
		Gap:     rapid.SampledFrom([]schedule.Gap{schedule.GapShift, schedule.GapEnd, schedule.GapSkip}).Draw(t, "gap"),
		Overlap: rapid.SampledFrom([]schedule.DSTOverlap{schedule.OverlapFirst, schedule.OverlapSecond, schedule.OverlapBoth}).Draw(t, "overlap"),
	}
	return schedule.Options{Zone: z, DST: dst}, z.Time(0).Location()
}

// Every slot that brute force finds is found, and no other.
func TestNext_agrees_with_brute_force(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpression(t)
		change := rapid.SampledFrom(changes).Draw(t, "change")
		o, location := drawOptions(t, change.zone)
		s, err := schedule.Parse(e.text, o)
		if err != nil {
			t.Skip("it never fires: " + err.Error())
		}
		near, err := time.Parse(time.RFC3339, change.near)
		if err != nil {
			t.Fatal(err)
		}
		from, to, grain := near.Add(-26*time.Hour), near.Add(26*time.Hour), time.Minute
		if e.second {
			from, to, grain = near.Add(-2*time.Hour), near.Add(2*time.Hour), time.Second
		}
		want := watch(location, from, to, grain).slots(e, o.DST)
		got := slotsBetween(s, from, to)
		if !slices.Equal(got, want) {
			t.Fatalf("%s in %s with %v:\n got %s\nwant %s", e.text, change.zone, o.DST, show(got, o.Zone), show(want, o.Zone))
		}
	})
}

// A yearly schedule is found from far away, also just beside a zone change.
func TestNext_finds_rare_slots_beside_changes(t *testing.T) {
	for _, change := range changes {
		z := zone(t, change.zone)
		near, err := time.Parse(time.RFC3339, change.near)
		if err != nil {
			t.Fatal(err)
		}
		for minutes := -90; minutes <= 90; minutes += 15 {
			_, before := z.Time(schedule.SlotOf(near.Add(-time.Hour))).Zone()
			reading := near.Add(time.Duration(minutes)*time.Minute + time.Duration(before)*time.Second)
			e := expression{
				text: reading.Format("4 15 2 1 *"),
				matches: func(r time.Time) bool {
					return r.Month() == reading.Month() && r.Day() == reading.Day() && r.Hour() == reading.Hour() && r.Minute() == reading.Minute()
				},
			}
			for _, overlap := range []schedule.DSTOverlap{schedule.OverlapFirst, schedule.OverlapSecond, schedule.OverlapBoth} {
				dst := schedule.DST{Gap: schedule.GapShift, Overlap: overlap}
				from, to := near.Add(-26*time.Hour), near.Add(26*time.Hour)
				want := watch(z.Time(0).Location(), from, to, time.Minute).slots(e, dst)
				got := slotsBetween(parse(t, e.text, schedule.Options{Zone: z, DST: dst}), near.AddDate(0, -10, 0), to)
				if !slices.Equal(got, want) {
					t.Errorf("%s in %s, %s:\n got %s\nwant %s", e.text, change.zone, overlap, show(got, z), show(want, z))
				}
			}
		}
	}
}

// Days are right over years, where brute force by the minute would take too long.
func TestNext_agrees_with_brute_force_on_days(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpression(t)
		s, err := schedule.Parse(e.text, schedule.Options{})
		if err != nil {
			t.Skip("it never fires: " + err.Error())
		}
		year := rapid.IntRange(1970, 2190).Draw(t, "year")
		from := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
		first, ok := s.Next(schedule.SlotOf(from) - 1)
		if !ok {
			return // a rare date, with no year left
		}
		timeOfDay := first.Time().Sub(first.Time().Truncate(24 * time.Hour))
		for day := from; day.Year() < year+3; day = day.AddDate(0, 0, 1) {
			want := e.matches(day.Add(timeOfDay))
			slot := schedule.SlotOf(day.Add(timeOfDay))
			got, ok := s.Next(slot - 1)
			if is := ok && got == slot; is != want {
				t.Fatalf("%s: a slot at %s: got %t, want %t", e.text, slot.Time(), is, want)
			}
		}
	})
}

func show(slots []schedule.Slot, zone *schedule.Zone) string {
	var texts []string
	for _, s := range slots {
		texts = append(texts, zone.Time(s).Format("01-02 15:04:05 -0700"))
	}
	if len(texts) > 40 {
		texts = append(texts[:40], "...")
	}
	return fmt.Sprint(len(slots), " slots: ", strings.Join(texts, ", "))
}

// Bad values of the test's own helpers would make every comparison pass.
func TestOracle_knows_known_nights(t *testing.T) {
	berlin := zone(t, "Europe/Berlin").Time(0).Location()
	half := expression{matches: func(r time.Time) bool { return r.Hour() == 2 && r.Minute() == 30 }}
	spring := time.Date(2026, time.March, 29, 0, 0, 0, 0, time.UTC)
	got := watch(berlin, spring, spring.Add(24*time.Hour), time.Minute).slots(half, schedule.DST{Gap: schedule.GapShift})
	if want := []schedule.Slot{schedule.SlotOf(spring.Add(90 * time.Minute))}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	autumn := time.Date(2026, time.October, 25, 0, 0, 0, 0, time.UTC)
	got = watch(berlin, autumn, autumn.Add(24*time.Hour), time.Minute).slots(half, schedule.DST{Overlap: schedule.OverlapBoth})
	want := []schedule.Slot{schedule.SlotOf(autumn.Add(30 * time.Minute)), schedule.SlotOf(autumn.Add(90 * time.Minute))}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func zone(t *testing.T, name string) *schedule.Zone {
	t.Helper()
	z, err := schedule.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}
