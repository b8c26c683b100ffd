package schedule_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

func parse(t *testing.T, text string, o schedule.Options) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text, o)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return s
}

// Each part of the language, by its first slots after a moment.
func TestParse_language(t *testing.T) {
	const layout = "2006-01-02 15:04:05"
	tests := []struct {
		text, after string
		want        []string
	}{
		{"* * * * *", "2026-01-01 00:00:59", []string{"2026-01-01 00:01:00", "2026-01-01 00:02:00"}},
		{"? ? ? ? ?", "2026-01-01 00:00:59", []string{"2026-01-01 00:01:00"}},
		{"\t 5   4\t* * * ", "2026-01-01 00:00:00", []string{"2026-01-01 04:05:00"}},
		{"*/20 * * * * *", "2026-01-01 00:00:00", []string{"2026-01-01 00:00:20", "2026-01-01 00:00:40", "2026-01-01 00:01:00"}},
		{"5,50-51 10 * * *", "2026-01-01 00:00:00", []string{"2026-01-01 10:05:00", "2026-01-01 10:50:00", "2026-01-01 10:51:00"}},
		{"10-20/5 0 * * *", "2026-01-01 00:00:00", []string{"2026-01-01 00:10:00", "2026-01-01 00:15:00", "2026-01-01 00:20:00"}},
		{"40/7 0 * * *", "2026-01-01 00:00:00", []string{"2026-01-01 00:40:00", "2026-01-01 00:47:00", "2026-01-01 00:54:00", "2026-01-02 00:40:00"}},
		{"007 08 * * *", "2026-01-01 00:00:00", []string{"2026-01-01 08:07:00"}},
		// Ranges may run backwards, and a step goes on over the end.
		{"0 22-4/3 * * *", "2026-01-01 12:00:00", []string{"2026-01-01 22:00:00", "2026-01-02 01:00:00", "2026-01-02 04:00:00", "2026-01-02 22:00:00"}},
		{"0 0 1 NOV-feb *", "2026-01-01 00:00:00", []string{"2026-02-01 00:00:00", "2026-11-01 00:00:00", "2026-12-01 00:00:00", "2027-01-01 00:00:00"}},
		{"0 0 * * Fri-MON", "2026-01-01 00:00:00", []string{"2026-01-02 00:00:00", "2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-05 00:00:00", "2026-01-09 00:00:00"}},
		{"55-5/5 0 * * *", "2026-01-01 00:05:00", []string{"2026-01-01 00:55:00", "2026-01-02 00:00:00", "2026-01-02 00:05:00"}},
		// 7 is Sunday, as 0 is.
		{"0 0 * * 7", "2026-01-01 00:00:00", []string{"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
		{"0 0 * * 5-7", "2026-01-01 00:00:00", []string{"2026-01-02 00:00:00", "2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-09 00:00:00"}},
		{"0 0 * * 7-1", "2026-01-01 00:00:00", []string{"2026-01-04 00:00:00", "2026-01-05 00:00:00", "2026-01-11 00:00:00"}},
		{"0 0 * * 7-7", "2026-01-01 00:00:00", []string{"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
		{"0 0 * * 1-7/3", "2026-01-01 00:00:00", []string{"2026-01-04 00:00:00", "2026-01-05 00:00:00"}},
		{"0 0 * * 0-7/2", "2026-01-01 00:00:00", []string{"2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-06 00:00:00", "2026-01-08 00:00:00"}},
		{"0 0 * * 7/3", "2026-01-01 00:00:00", []string{"2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-07 00:00:00"}},
		// Day of month or weekday; but and, where one of them begins with a star.
		{"0 0 13 * FRI", "2026-02-01 00:00:00", []string{"2026-02-06 00:00:00", "2026-02-13 00:00:00", "2026-02-20 00:00:00", "2026-02-27 00:00:00", "2026-03-06 00:00:00", "2026-03-13 00:00:00"}},
		{"0 0 1-7,*/30 * MON", "2026-01-01 00:00:00", []string{"2026-01-02 00:00:00"}},
		{"0 0 */15 * MON", "2026-01-01 00:00:00", []string{"2026-02-16 00:00:00", "2026-03-16 00:00:00", "2026-06-01 00:00:00"}},
		// Days from the end, workdays, nth weekdays.
		{"0 0 L * *", "2028-02-01 00:00:00", []string{"2028-02-29 00:00:00", "2028-03-31 00:00:00", "2028-04-30 00:00:00"}},
		{"0 0 l-2 * *", "2026-02-01 00:00:00", []string{"2026-02-26 00:00:00", "2026-03-29 00:00:00"}},
		{"0 0 L-30 * *", "2026-01-01 00:00:00", []string{"2026-03-01 00:00:00", "2026-05-01 00:00:00"}},
		{"0 0 LW * *", "2026-01-01 00:00:00", []string{"2026-01-30 00:00:00", "2026-02-27 00:00:00", "2026-03-31 00:00:00"}},
		{"0 0 L-3W 1 *", "2026-01-01 00:00:00", []string{"2026-01-28 00:00:00", "2027-01-28 00:00:00", "2028-01-28 00:00:00"}},
		{"0 0 15w * *", "2026-08-01 00:00:00", []string{"2026-08-14 00:00:00", "2026-09-15 00:00:00", "2026-10-15 00:00:00", "2026-11-16 00:00:00"}},
		{"0 0 1W * *", "2026-08-01 00:00:00", []string{"2026-08-03 00:00:00", "2026-09-01 00:00:00"}},    // 1 August is a Saturday
		{"0 0 31W 5 *", "2026-01-01 00:00:00", []string{"2026-05-29 00:00:00", "2027-05-31 00:00:00"}},   // 31 May 2026 is a Sunday
		{"0 0 10,L * *", "2026-01-01 00:00:00", []string{"2026-01-10 00:00:00", "2026-01-31 00:00:00"}},  // beside other days
		{"0 0 31W 4-6 *", "2026-01-01 00:00:00", []string{"2026-05-29 00:00:00", "2027-05-31 00:00:00"}}, // only where there is a 31st
		{"0 0 * * MON#2", "2026-01-01 00:00:00", []string{"2026-01-12 00:00:00", "2026-02-09 00:00:00"}},
		{"0 0 * * 5#5", "2026-01-01 00:00:00", []string{"2026-01-30 00:00:00", "2026-05-29 00:00:00"}},
		{"0 0 * * 7#1,satL", "2026-01-01 00:00:00", []string{"2026-01-04 00:00:00", "2026-01-31 00:00:00", "2026-02-01 00:00:00"}},
		{"0 0 1 * 5L", "2026-01-01 00:00:00", []string{"2026-01-30 00:00:00", "2026-02-01 00:00:00"}},
		// Leap days, also those that a calendar without exceptions would have.
		{"0 0 29 2 *", "2096-01-01 00:00:00", []string{"2096-02-29 00:00:00", "2104-02-29 00:00:00"}},
		{"0 0 */28 2 SUN", "2026-03-01 00:00:00", []string{"2032-02-01 00:00:00", "2032-02-29 00:00:00", "2037-02-01 00:00:00"}},
		// Named schedules.
		{"@hourly", "2026-01-01 00:00:00", []string{"2026-01-01 01:00:00"}},
		{"@daily", "2026-01-01 00:00:00", []string{"2026-01-02 00:00:00"}},
		{"@midnight", "2026-01-01 00:00:00", []string{"2026-01-02 00:00:00"}},
		{"@weekly", "2026-01-01 00:00:00", []string{"2026-01-04 00:00:00"}},
		{" @monthly ", "2026-01-01 00:00:00", []string{"2026-02-01 00:00:00"}},
		{"@yearly", "2026-01-01 00:00:00", []string{"2027-01-01 00:00:00"}},
		{"@annually", "2026-01-01 00:00:00", []string{"2027-01-01 00:00:00"}},
		{"@every 1h30m", "2026-01-01 00:00:00", []string{"2026-01-01 01:30:00", "2026-01-01 03:00:00"}},
		{"@every 15s/5s", "2026-01-01 00:00:00", []string{"2026-01-01 00:00:05", "2026-01-01 00:00:20"}},
		{"@every 1d/2h", "2026-01-01 00:00:00", []string{"2026-01-01 02:00:00", "2026-01-02 02:00:00"}},
		{"@at 2026-02-03T04:05:06+02:00", "2026-01-01 00:00:00", []string{"2026-02-03 02:05:06", "none"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s := parse(t, tt.text, schedule.Options{})
			after, err := time.Parse(layout, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			slot := schedule.SlotOf(after)
			var got []string
			for range tt.want {
				next, ok := s.Next(slot)
				if !ok {
					got = append(got, "none")
					break
				}
				got = append(got, next.Time().Format(layout))
				slot = next
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The values that H picks for a job must never change: its runs would move.
func TestParse_H_is_fixed_for_ever(t *testing.T) {
	tests := []struct{ job, text, same string }{
		{"backup", "H H * * *", "33 7 * * *"},
		{"backup", "H H H H H", "33 7 8 2 3"},
		{"backup", "H H(0-7) * * *", "33 7 * * *"},
		{"backup", "H/15 * * * *", "3-59/15 * * * *"},
		{"backup", "H(10-40)/10 H/6 * * *", "13-40/10 1-23/6 * * *"},
		{"report", "h H * * *", "22 17 * * *"},
		{"report", "H H H * * *", "43 22 17 * * *"},
		{"a", "H * * * *", "21 * * * *"},
		{"b", "H * * * *", "24 * * * *"},
		{"nächtlich", "H * * * *", "6 * * * *"},
	}
	for _, tt := range tests {
		t.Run(tt.job+" "+tt.text, func(t *testing.T) {
			from := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
			got := slotsBetween(parse(t, tt.text, schedule.Options{Job: tt.job}), from, from.AddDate(2, 0, 0))
			want := slotsBetween(parse(t, tt.same, schedule.Options{}), from, from.AddDate(2, 0, 0))
			if !slices.Equal(got, want) {
				t.Errorf("it isn't %s any more: %s", tt.same, show(got, schedule.UTC()))
			}
		})
	}
}

// Every value of a field is picked for some job, and none much more often than another.
func TestParse_H_spreads_jobs(t *testing.T) {
	counts := map[[2]int]int{}
	const jobs = 60 * 24 * 20
	for i := range jobs {
		s := parse(t, "H H * * *", schedule.Options{Job: fmt.Sprint("job-", i)})
		slot, _ := s.Next(0)
		counts[[2]int{slot.Time().Hour(), slot.Time().Minute()}]++
	}
	if len(counts) < 60*24*99/100 {
		t.Errorf("%d jobs use only %d of 1440 minutes of the day", jobs, len(counts))
	}
	for at, n := range counts {
		if n > 3*jobs/1440 {
			t.Errorf("%d jobs at %v, an even spread would be %d", n, at, jobs/1440)
		}
	}
}

func TestEvery_is_aligned_to_the_epoch(t *testing.T) {
	s, err := schedule.Every(15*time.Second, 5*time.Second, schedule.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []schedule.Slot{-1, 0, 4999, 5000, 19_999, 1_790_000_000_123, -1_000_001} {
		got, ok := s.Next(after)
		if !ok || got <= after || got > after+15_000 || (got-5000)%15_000 != 0 {
			t.Errorf("Next(%d) = %d, %t; want the first of 5 s + n * 15 s after it", after, got, ok)
		}
	}
}

func TestEvery_refuses(t *testing.T) {
	for _, tt := range []struct {
		every, offset time.Duration
		field         string
	}{
		{0, 0, "every"},
		{-time.Minute, 0, "every"},
		{time.Nanosecond, 0, "every"},
		{1500 * time.Millisecond, 0, "every"},
		{366*24*time.Hour + time.Second, 0, "every"},
		{time.Minute, -time.Second, "offset"},
		{time.Minute, time.Minute, "offset"},
		{time.Minute, time.Millisecond, "offset"},
	} {
		_, err := schedule.Every(tt.every, tt.offset, schedule.Options{})
		var parseError *schedule.ParseError
		if !errors.As(err, &parseError) || parseError.Field != tt.field || parseError.Hint == "" {
			t.Errorf("Every(%s, %s): got %v, want an error about %s with a hint", tt.every, tt.offset, err, tt.field)
		}
	}
	if _, err := schedule.Every(366*24*time.Hour, 0, schedule.Options{}); err != nil {
		t.Errorf("366 days: %v", err)
	}
}

func TestAt_is_one_slot(t *testing.T) {
	at := time.Date(2027, time.March, 4, 5, 6, 7, 0, time.UTC)
	s, err := schedule.At(at)
	if err != nil {
		t.Fatal(err)
	}
	want := schedule.SlotOf(at)
	if got, ok := s.Next(want - 1); !ok || got != want {
		t.Errorf("Next just before: got %d, %t, want %d", got, ok, want)
	}
	if got, ok := s.Next(want); ok {
		t.Errorf("Next at it: got %d, want none", got)
	}
	for _, bad := range []time.Time{{}, at.Add(time.Millisecond), at.AddDate(200, 0, 0), time.Unix(-1, 0)} {
		if _, err := schedule.At(bad); err == nil {
			t.Errorf("At(%s) was accepted", bad)
		}
	}
}

func TestUnion_has_the_slots_of_all(t *testing.T) {
	weekdays, saturday := parse(t, "0 9 * * MON-FRI", schedule.Options{}), parse(t, "0 9,12 * * SAT", schedule.Options{})
	daily := parse(t, "0 9 * * *", schedule.Options{})
	u := schedule.Union(schedule.Union(weekdays, saturday), daily)
	from := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC) // a Monday
	got := slotsBetween(u, from, from.AddDate(0, 0, 7))
	var want []schedule.Slot
	for day := range 7 {
		want = append(want, schedule.SlotOf(from.AddDate(0, 0, day).Add(9*time.Hour)))
		if day == 5 {
			want = append(want, schedule.SlotOf(from.AddDate(0, 0, day).Add(12*time.Hour)))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s", show(got, schedule.UTC()))
	}
	if _, ok := schedule.Union().Next(0); ok {
		t.Error("the union of nothing has a slot")
	}
}

// Next takes every slot that there can be, and never answers one that isn't later.
func TestNext_at_the_ends_of_time(t *testing.T) {
	for _, text := range []string{"* * * * * *", "30 2 * * *", "0 0 29 2 *", "@every 1s", "@every 366d", "@at 2027-01-31T02:30:00Z"} {
		s := parse(t, text, schedule.Options{Zone: zone(t, "America/New_York")})
		for _, after := range []schedule.Slot{math.MinInt64, math.MinInt64 / 1000, -1, 0, math.MaxInt64 / 1000, math.MaxInt64 - 1, math.MaxInt64} {
			if got, ok := s.Next(after); ok && got <= after {
				t.Errorf("%s: Next(%d) = %d", text, after, got)
			}
		}
		if got, ok := s.Next(math.MinInt64); !ok {
			t.Errorf("%s: no slot after the beginning of time, got %d", text, got)
		}
	}
}

func TestNext_does_not_allocate(t *testing.T) {
	s := schedule.Union(
		parse(t, "*/15 9-17 L-3W,15W * MON#2,FRIL", schedule.Options{Zone: zone(t, "America/New_York")}),
		parse(t, "@every 15s", schedule.Options{}),
		parse(t, "@at 2027-01-31T02:30:00Z", schedule.Options{}),
	)
	slot := schedule.Slot(0)
	if allocs := testing.AllocsPerRun(1000, func() { slot, _ = s.Next(slot) }); allocs != 0 {
		t.Errorf("Next makes %v allocations", allocs)
	}
}

// Two instances that started at different times find the same slots.
func TestNext_does_not_depend_on_where_one_starts(t *testing.T) {
	o := schedule.Options{Zone: zone(t, "Europe/Berlin"), Job: "backup"}
	from := time.Date(2026, time.March, 28, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 0, 3)
	for _, text := range []string{"*/7 * * * *", "30 2 * * *", "H H/3 * * *", "@every 7m/1m", "@at 2026-03-29T01:30:00Z"} {
		s := parse(t, text, o)
		want := slotsBetween(s, from, to)
		for start := from; start.Before(to); start = start.Add(17 * time.Minute) {
			i, _ := slices.BinarySearch(want, schedule.SlotOf(start))
			if got := slotsBetween(s, start, to); !slices.Equal(got, want[i:]) {
				t.Fatalf("%s from %s: got %s, want %s", text, start, show(got, o.Zone), show(want[i:], o.Zone))
			}
		}
	}
}
