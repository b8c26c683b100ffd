package schedule_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

func TestMinGap(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		texts []string
		want  time.Duration
	}{
		{[]string{"* * * * * *"}, time.Second},
		{[]string{"*/10 * * * * *"}, 10 * time.Second},
		{[]string{"*/45 * * * *"}, 15 * time.Minute},
		{[]string{"*/7 * * * *"}, 4 * time.Minute},
		{[]string{"59 23 * * *"}, day},
		{[]string{"0,59 0,23 * * *"}, time.Minute}, // 23:59 and 00:00
		{[]string{"5,50 10 5 5 1 *"}, 45 * time.Second},
		{[]string{"0 12 * * MON,TUE"}, day},
		{[]string{"0 12 * * MON,THU"}, 3 * day},
		{[]string{"0 0 1 * *"}, 28 * day},
		{[]string{"0 0 31 * *"}, 31 * day}, // July and August
		{[]string{"0 0 29 2 *"}, (4*365 + 1) * day},
		{[]string{"0 0 */28 2 SUN"}, 28 * day}, // the 1st and the 29th
		{[]string{"0 0 1 1 *"}, 365 * day},
		{[]string{"0 0 1,31 1 *"}, 30 * day},
		{[]string{"0 0 1 1 *", "0 0 31 12 *"}, day}, // over the end of the year
		{[]string{"0 0 L * *", "0 1 1 * *"}, 25 * time.Hour},
		{[]string{"0 9 * * MON-FRI", "0 12 * * SAT"}, day},
		{[]string{"0 9 * * MON-FRI", "0 12 * * *"}, 3 * time.Hour},
		{[]string{"0 9 * * *", "0 9 * * *"}, day},                              // the same slots
		{[]string{"0 9 1 * *", "1 9 2-31 * *"}, 23*time.Hour + 59*time.Minute}, // 31st 09:01, 1st 09:00
		{[]string{"@every 366d"}, 366 * day},
		{[]string{"@every 1h", "@every 1h/1m"}, time.Minute},
		{[]string{"@every 15m", "@every 20m"}, 5 * time.Minute},
		{[]string{"@every 7s", "@every 11s"}, time.Second},
		{[]string{"@every 1d/1h", "30 2 * * *"}, 90 * time.Minute},
		{[]string{"@every 1h", "15 * * * *"}, 15 * time.Minute},
		{[]string{"@at 2027-01-31T02:30:00Z"}, 0},
		{[]string{"@at 2027-01-31T02:30:00Z", "@at 2027-01-31T02:30:00Z"}, 0},
		{[]string{"@at 2027-01-31T02:30:00Z", "@at 2028-01-31T02:30:00Z"}, 365 * day},
		{[]string{"@at 2027-01-31T02:30:00Z", "0 0 * * *"}, 150 * time.Minute},
		{[]string{"@at 2027-01-31T23:59:50Z", "0 0 1 * *"}, 10 * time.Second},
		{nil, 0},
	}
	for _, tt := range tests {
		var all []*schedule.Schedule
		for _, text := range tt.texts {
			all = append(all, parse(t, text, schedule.Options{}))
		}
		if got := schedule.Union(all...).MinGap(); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.texts, got, tt.want)
		}
	}
}

// In New York an hourly interval and a daily time meet at a different distance in summer, but both
// offsets are whole hours; in two zones nothing is known.
func TestMinGap_over_zones(t *testing.T) {
	newYork := schedule.Options{Zone: zone(t, "America/New_York")}
	mixed := schedule.Union(parse(t, "@every 6h", newYork), parse(t, "10 1 * * *", newYork))
	if got, most := mixed.MinGap(), 10*time.Minute; got > most || got <= 0 {
		t.Errorf("mixed: got %s, want more than 0 and at most %s (in winter 01:10 is 06:10 UTC)", got, most)
	}
	two := schedule.Union(parse(t, "0 1 * * *", newYork), parse(t, "0 7 * * *", schedule.Options{}))
	if got := two.MinGap(); got > time.Second {
		t.Errorf("two zones: got %s, want at most 1s", got)
	}
}

// daySlots sums up one day's slots, in seconds from its midnight.
type daySlots struct {
	first, last int64
	least       int64
}

func sumUp(matches func(time.Time) bool, midnight time.Time) daySlots {
	d := daySlots{first: -1, least: 1 << 40}
	for second := range int64(86400) {
		if !matches(midnight.Add(time.Duration(second) * time.Second)) {
			continue
		}
		if d.first < 0 {
			d.first = second
		} else {
			d.least = min(d.least, second-d.last)
		}
		d.last = second
	}
	return d
}

// The least gap is exactly that of all slots of 400 years.
func TestMinGap_agrees_with_brute_force(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawExpression(t), drawExpression(t)
		sa, errA := schedule.Parse(a.text, schedule.Options{})
		sb, errB := schedule.Parse(b.text, schedule.Options{})
		if errA != nil || errB != nil {
			t.Skip("one of them never fires")
		}
		u := sa
		either := a.matches
		isUnion := rapid.Bool().Draw(t, "union")
		if isUnion {
			u = schedule.Union(sa, sb)
			either = func(r time.Time) bool { return a.matches(r) || b.matches(r) }
		}
		var kinds [4]*daySlots // by the days' match with a and b
		least, last := int64(1)<<40, int64(-1)<<40
		const cycle = 146_097 // days of 400 years
		start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
		for day := range int64(cycle + 41*366) { // the longest gap is 40 years
			midnight := time.Unix(start+day%cycle*86400, 0).UTC()
			kind := 0
			if a.onDay(midnight) {
				kind |= 1
			}
			if isUnion && b.onDay(midnight) {
				kind |= 2
			}
			if kind == 0 {
				continue
			}
			if kinds[kind] == nil {
				d := sumUp(either, midnight)
				kinds[kind] = &d
			}
			d := kinds[kind]
			least = min(least, d.least, day*86400+d.first-last)
			last = day*86400 + d.last
			if least == 1 {
				break
			}
		}
		if got := u.MinGap(); got != time.Duration(least)*time.Second {
			t.Fatalf("%s: got %s, want %s", u, got, time.Duration(least)*time.Second)
		}
	})
}

// No two slots of a mix are nearer than its least gap, away from zone changes.
func TestMinGap_holds_for_mixed_schedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, _ := drawOptions(t, "Europe/Berlin")
		every := time.Duration(rapid.IntRange(60, 90_000).Draw(t, "every")) * time.Second
		offset := time.Duration(rapid.IntRange(0, 59).Draw(t, "offset")) * time.Second
		interval, err := schedule.Every(every, offset, o)
		if err != nil {
			t.Fatal(err)
		}
		cron, err := schedule.Parse(drawExpression(t).text, o)
		if err != nil {
			t.Skip("it never fires")
		}
		u := schedule.Union(cron, interval)
		least := u.MinGap()
		slot, ok := u.Next(schedule.SlotOf(time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)))
		for range 500 {
			if !ok {
				break
			}
			var next schedule.Slot
			if next, ok = u.Next(slot); !ok || next.Time().Month() >= time.October {
				break
			}
			if gap := next.Time().Sub(slot.Time()); gap < least {
				t.Fatalf("%s: a gap of %s at %s, the least is %s", u, gap, slot.Time(), least)
			}
			slot = next
		}
	})
}
