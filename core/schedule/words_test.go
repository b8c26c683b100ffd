package schedule_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

func TestWords(t *testing.T) {
	tests := []struct{ text, want string }{
		{"* * * * *", "every minute"},
		{"* * * * * *", "every second"},
		{"*/10 * * * * *", "every 10 seconds"},
		{"*/10 5 * * * *", "every 10 seconds in minute 5"},
		{"*/10 */5 * * * *", "every 10 seconds in every 5th minute"},
		{"*/15 * * * *", "every 15 minutes"},
		{"5/15 * * * *", "every 15 minutes from minute 5 on"},
		{"15 * * * *", "every hour at minute 15"},
		{"@hourly", "every hour"},
		{"0 */2 * * *", "every 2 hours"},
		{"5,10 1/6 * * *", "every 6 hours from hour 1 on at minutes 5 and 10"},
		{"*/15 9-17 * * MON-FRI", "every 15 minutes from 09:00 to 17:45 on Monday to Friday"},
		{"30 8-17 * * *", "every hour at minute 30 from 08:30 to 17:30"},
		{"0-10 1,2,5,8 * * *", "at minutes 0 to 10 in hours 1, 2, 5 and 8"},
		{"30 2 * * *", "at 02:30"},
		{"15 30 2 * * *", "at 02:30:15"},
		{"0,30 9,17 * * *", "at 09:00, 09:30, 17:00 and 17:30"},
		{"0 0 1 * *", "at 00:00 on day 1 of the month"},
		{"0 0 1,10-12 * *", "at 00:00 on days 1 and 10 to 12 of the month"},
		{"0 0 13 * FRI", "at 00:00 on day 13 of the month, or on Friday"},
		{"0 0 */2 * FRI", "at 00:00 on every 2nd day of the month if it is Friday"},
		{"0 0 L,LW,L-1,L-3,15W,L-2W * *", "at 00:00 on the workday nearest to day 15, the last day of the month, the day before the last day of the month, the day 3 days before the last day of the month, the last workday of the month and the workday nearest to the day 2 days before the last day of the month"},
		{"0 0 * * MON#2,FRIL", "at 00:00 on the 2nd Monday of the month and the last Friday of the month"},
		{"0 0 * * SUN,TUE#1,WED#3", "at 00:00 on Sunday, the 1st Tuesday of the month and the 3rd Wednesday of the month"},
		{"0 0 29 2 *", "at 00:00 on day 29 of the month in February"},
		{"0 0 * JAN,JUN-AUG *", "at 00:00 in January and June to August"},
		{"@every 90m", "every 1h30m"},
		{"@every 15s/5s", "every 15s, offset by 5s"},
		{"@at 2027-01-31T02:30:00Z", "once, on 2027-01-31 at 02:30:00 UTC"},
	}
	for _, tt := range tests {
		if got := parse(t, tt.text, schedule.Options{}).Words(); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
	u := schedule.Union(parse(t, "0 9 * * MON-FRI", schedule.Options{}), parse(t, "0 12 * * SAT", schedule.Options{}))
	if got, want := u.Words(), "at 09:00 on Monday to Friday; at 12:00 on Saturday"; got != want {
		t.Errorf("union: got %q, want %q", got, want)
	}
	if got, want := u.String(), "0 9 * * MON-FRI | 0 12 * * SAT"; got != want {
		t.Errorf("union: got %q, want %q", got, want)
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		text string
		want []string // parts of the notes, in order
	}{
		{"30 2 * * *", nil},
		{"*/15 * * * *", nil},
		{"*/2 * * * *", nil},
		{"0 30 2 * * *", []string{"second minute hour day-of-month month weekday"}},
		{"*/7 * * * *", []string{"the minute are uneven: after 56 comes 0, 4 later and not 7"}},
		{"0 5/7 * * *", []string{"the hour are uneven: after 19 comes 5, 10 later and not 7"}},
		{"*/45 */25 * * * *", []string{"six fields", "the second are", "the minute are"}},
		{"10-50/10 * * * *", nil},
		{"0 0 13 * FRI", []string{"either of them"}},
		{"0 0 */2 * FRI", []string{"both of them"}},
		{"0 0 31 * *", []string{"without day 31"}},
		{"0 0 30 1,2 *", []string{"without day 30"}},
		{"0 0 1,31 * *", nil},
		{"0 0 L * *", nil},
		{"0 0 29 2 *", []string{"leap years only"}},
		{"@every 7s", nil},
		{"@at 2027-01-31T02:30:00Z", nil},
	}
	for _, tt := range tests {
		got := parse(t, tt.text, schedule.Options{}).Notes()
		if len(got) != len(tt.want) || !slices.EqualFunc(got, tt.want, strings.Contains) {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
	six := parse(t, "0 0 9 * * *", schedule.Options{})
	if got := schedule.Union(six, parse(t, "0 0 12 * * *", schedule.Options{})).Notes(); len(got) != 1 {
		t.Errorf("union: got %q, want one note once", got)
	}
}

// The nights of a zone, with what happens to schedules, and what each of their slots is.
func TestNights(t *testing.T) {
	tests := []struct {
		zone, text string
		dst        schedule.DST
		from       string
		at, effect string
		slots      []string // of the day after from, as the zone's clocks show them, with Explain's note
	}{
		{
			"Europe/Berlin", "30 2 * * *",
			schedule.DST{},
			"2026-03-29",
			"2026-03-29T01:00:00Z", "02:30 does not exist: runs at 03:30",
			[]string{"03:30 +0200 moved: 02:30 does not exist"},
		},
		{
			"Europe/Berlin", "30 2 * * *",
			schedule.DST{Gap: schedule.GapEnd},
			"2026-03-29",
			"2026-03-29T01:00:00Z", "02:30 does not exist: runs once at 03:00",
			[]string{"03:00 +0200 moved: 02:30 does not exist"},
		},
		{
			"Europe/Berlin", "30 2 * * *",
			schedule.DST{Gap: schedule.GapSkip},
			"2026-03-29",
			"2026-03-29T01:00:00Z", "02:30 does not exist: doesn't run", nil,
		},
		{
			"Europe/Berlin", "15,45 2,3 * * *",
			schedule.DST{},
			"2026-03-29",
			"2026-03-29T01:00:00Z", "02:15 to 02:45 (2 times) do not exist: runs at 03:15 to 03:45",
			[]string{"03:15 +0200", "03:45 +0200"},
		},
		{
			"Europe/Berlin", "0,30 2 * * *",
			schedule.DST{Gap: schedule.GapEnd},
			"2026-03-29",
			"2026-03-29T01:00:00Z", "02:00 to 02:30 (2 times) do not exist: runs once at 03:00",
			[]string{"03:00 +0200 moved: 02:00 does not exist"},
		},
		{
			"Europe/Berlin", "30 2 * * *",
			schedule.DST{},
			"2026-10-25",
			"2026-10-25T01:00:00Z", "02:30 happens twice: runs in the first pass only",
			[]string{"02:30 +0200"},
		},
		{
			"Europe/Berlin", "30 2 * * *",
			schedule.DST{Overlap: schedule.OverlapSecond},
			"2026-10-25",
			"2026-10-25T01:00:00Z", "02:30 happens twice: runs in the second pass only",
			[]string{"02:30 +0100 second pass"},
		},
		{
			"Europe/Berlin", "0,30 2 * * *",
			schedule.DST{Overlap: schedule.OverlapBoth},
			"2026-10-25",
			"2026-10-25T01:00:00Z", "02:00 to 02:30 (2 times) happen twice: runs in both passes",
			[]string{"02:00 +0200", "02:30 +0200", "02:00 +0100 second pass", "02:30 +0100 second pass"},
		},
		{
			"Europe/Berlin", "*/30 1-3 * * *",
			schedule.DST{},
			"2026-10-25",
			"2026-10-25T01:00:00Z", "02:00 to 02:30 (2 times) happen twice: runs in both passes",
			[]string{"01:00 +0200", "01:30 +0200", "02:00 +0200", "02:30 +0200", "02:00 +0100 second pass", "02:30 +0100 second pass", "03:00 +0100", "03:30 +0100"},
		},
		{
			"Europe/Berlin", "0 12 * * *",
			schedule.DST{},
			"2026-10-25",
			"2026-10-25T01:00:00Z", "",
			[]string{"12:00 +0100"},
		},
		{
			"Europe/Berlin", "@every 12h",
			schedule.DST{},
			"2026-10-25",
			"2026-10-25T01:00:00Z", "",
			[]string{"02:00 +0200", "13:00 +0100"},
		},
		{
			"Australia/Lord_Howe", "15 2 * * *",
			schedule.DST{},
			"2026-10-04",
			"2026-10-03T15:30:00Z", "02:15 does not exist: runs at 02:45",
			[]string{"02:45 +1100 moved: 02:15 does not exist"},
		},
		{
			"Australia/Lord_Howe", "45 1 * * *",
			schedule.DST{},
			"2026-04-05",
			"2026-04-04T15:00:00Z", "01:45 happens twice: runs in the first pass only",
			[]string{"01:45 +1100"},
		},
		{
			"America/Sao_Paulo", "30 0 * * *",
			schedule.DST{},
			"2018-11-04",
			"2018-11-04T03:00:00Z", "00:30 does not exist: runs at 01:30",
			[]string{"01:30 -0200 moved: 00:30 does not exist"},
		},
		{
			"America/Sao_Paulo", "@daily",
			schedule.DST{},
			"2018-11-04",
			"2018-11-04T03:00:00Z", "00:00 does not exist: runs at 01:00",
			[]string{"01:00 -0200 moved: 00:00 does not exist"},
		},
		{
			"America/Sao_Paulo", "30 23 * * *",
			schedule.DST{},
			"2018-02-17",
			"2018-02-18T02:00:00Z", "23:30 happens twice: runs in the first pass only",
			[]string{"23:30 -0200"},
		},
		{
			"Pacific/Apia", "0 12 30 12 *",
			schedule.DST{},
			"2011-12-31",
			"2011-12-30T10:00:00Z", "2011-12-30 12:00 does not exist: runs at 12:00",
			[]string{"12:00 +1400 moved: 2011-12-30 12:00 does not exist"},
		},
		{
			"Pacific/Apia", "0 12 * * *",
			schedule.DST{},
			"2011-12-31",
			"2011-12-30T10:00:00Z", "2011-12-30 12:00 does not exist: runs at 12:00",
			[]string{"12:00 +1400"},
		},
		{
			"Pacific/Kwajalein", "0 12 * * *",
			schedule.DST{Gap: schedule.GapEnd},
			"1993-08-22",
			"1993-08-21T12:00:00Z", "1993-08-21 12:00 does not exist: runs once at 00:00",
			[]string{"00:00 +1200 moved: 1993-08-21 12:00 does not exist", "12:00 +1200"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.zone+" "+tt.text+" "+tt.from, func(t *testing.T) {
			z := zone(t, tt.zone)
			s := parse(t, tt.text, schedule.Options{Zone: z, DST: tt.dst})
			from, err := time.ParseInLocation("2006-01-02", tt.from, z.Time(0).Location())
			if err != nil {
				t.Fatal(err)
			}
			nights := s.Nights(schedule.SlotOf(from.Add(-2*time.Hour)), 2)
			if len(nights) != 1 {
				t.Fatalf("got %d nights, want 1", len(nights))
			}
			n := nights[0]
			if at := n.At.Time().Format(time.RFC3339); at != tt.at || n.Effect != tt.effect {
				t.Errorf("got %s: %q\nwant %s: %q", at, n.Effect, tt.at, tt.effect)
			}
			if n.After == n.Before {
				t.Error("the offset doesn't change")
			}
			var got []string
			for _, slot := range slotsBetween(s, from, from.AddDate(0, 0, 1)) {
				got = append(got, strings.TrimSpace(z.Time(slot).Format("15:04 -0700 ")+s.Explain(slot)))
			}
			if !slices.Equal(got, tt.slots) {
				t.Errorf("slots:\n got %q\nwant %q", got, tt.slots)
			}
		})
	}
}

func TestNights_counts_days(t *testing.T) {
	s := parse(t, "@daily", schedule.Options{Zone: zone(t, "Europe/Berlin")})
	change := schedule.SlotOf(time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC))
	for _, tt := range []struct {
		from schedule.Slot
		days int
		want int
	}{
		{change, 1, 1},
		{change + 1000, 1, 0},
		{change - 24*3600_000, 1, 0},
		{change, 364, 2},
		{change, 0, 0},
		{change, -1, 0},
	} {
		if got := s.Nights(tt.from, tt.days); len(got) != tt.want {
			t.Errorf("%d days from %s: got %d nights, want %d", tt.days, tt.from.Time(), len(got), tt.want)
		}
	}
	if got := parse(t, "@daily", schedule.Options{}).Nights(0, 10_000); len(got) != 0 {
		t.Errorf("UTC: got %v", got)
	}
}

// In a union the slot is nothing special if one of its schedules has it as usual.
func TestExplain_in_a_union(t *testing.T) {
	o := schedule.Options{Zone: zone(t, "Europe/Berlin")}
	half, later := parse(t, "30 2 * * *", o), parse(t, "30 3 * * *", o)
	slot := schedule.SlotOf(time.Date(2026, time.March, 29, 1, 30, 0, 0, time.UTC))
	if got := half.Explain(slot); got == "" {
		t.Fatal("the slot isn't moved")
	}
	u := schedule.Union(half, later)
	if got := u.Explain(slot); got != "" {
		t.Errorf("got %q", got)
	}
	if got := u.Nights(slot-24*3600_000, 2); len(got) != 1 || got[0].Effect != "02:30 does not exist: runs at 03:30" {
		t.Errorf("got %v", got)
	}
	if got := u.Explain(slot + 1000); got != "" {
		t.Errorf("no slot at all: got %q", got)
	}
}

// An interval has no silent hour and no burst on either night.
func TestNext_of_intervals_is_steady(t *testing.T) {
	o := schedule.Options{Zone: zone(t, "Europe/Berlin")}
	s := parse(t, "* * * * *", o)
	for _, tt := range []struct {
		day  time.Time
		want int
	}{
		{time.Date(2026, time.March, 29, 0, 0, 0, 0, o.Zone.Time(0).Location()), 1380},
		{time.Date(2026, time.October, 25, 0, 0, 0, 0, o.Zone.Time(0).Location()), 1500},
	} {
		slots := slotsBetween(s, tt.day, tt.day.AddDate(0, 0, 1))
		if len(slots) != tt.want {
			t.Errorf("%s: got %d slots, want %d", tt.day, len(slots), tt.want)
		}
		for i, slot := range slots[1:] {
			if slot-slots[i] != 60_000 {
				t.Errorf("%s to %s isn't a minute", slots[i].Time(), slot.Time())
			}
		}
	}
}
