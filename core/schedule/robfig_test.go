package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// drawCommonField draws a field that both libraries read alike: no ranges that run backwards.
func drawCommonField(t *rapid.T, name string, low, high int) string {
	var items []string
	for range rapid.IntRange(1, 3).Draw(t, name+" items") {
		a := rapid.IntRange(low, high).Draw(t, name+" a")
		b := rapid.IntRange(a, high).Draw(t, name+" b")
		step := rapid.IntRange(2, high-low).Draw(t, name+" step")
		items = append(items, rapid.SampledFrom([]string{
			fmt.Sprint(a), fmt.Sprintf("%d-%d", a, b), fmt.Sprintf("%d-%d/%d", a, b, step), fmt.Sprintf("%d/%d", a, step),
		}).Draw(t, name))
	}
	return strings.Join(items, ",")
}

// Away from zone changes, slots are those of robfig/cron, whose answers are right there.
func TestNext_agrees_with_robfig_cron(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := func(name string, low, high int, all ...string) string {
			if rapid.Bool().Draw(t, name+" restricted") {
				return drawCommonField(t, name, low, high)
			}
			return rapid.SampledFrom(all).Draw(t, name)
		}
		text := strings.Join([]string{
			field("minute", 0, 59, "*", "?", "*/7", "0"), field("hour", 0, 23, "*", "*/5", "12"),
			field("day", 1, 31, "*", "?"), field("month", 1, 12, "*", "*/3", "JAN-JUN"), field("weekday", 0, 6, "*", "?", "MON-FRI"),
		}, " ")
		name := rapid.SampledFrom([]string{"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Asia/Tokyo"}).Draw(t, "zone")
		z, err := schedule.LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := schedule.Parse(text, schedule.Options{Zone: z})
		if err != nil {
			t.Skip("it never fires")
		}
		theirs, err := robfig.ParseStandard(text)
		if err != nil {
			t.Fatalf("%s: robfig/cron: %v", text, err)
		}
		from := time.Date(rapid.IntRange(1975, 2080).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month of start")), 1, 0, 0, 0, 0, time.UTC)
		var want []schedule.Slot
		for at := theirs.Next(from.In(z.Time(0).Location())); len(want) < 50 && !at.IsZero(); at = theirs.Next(at) {
			want = append(want, schedule.SlotOf(at))
		}
		if len(want) == 0 {
			return // robfig/cron looks five years ahead
		}
		last := want[len(want)-1]
		got := slotsBetween(ours, from.Add(time.Second), last.Time().Add(time.Second))
		nights := ours.Nights(schedule.SlotOf(from)-2*24*3600_000, daysBetween(from, last.Time())+4)
		unsettled := func(s schedule.Slot) bool {
			return slices.ContainsFunc(nights, func(n schedule.Night) bool { return s.Time().Sub(n.At.Time()).Abs() < 26*time.Hour })
		}
		got, want = slices.DeleteFunc(got, unsettled), slices.DeleteFunc(want, unsettled)
		if !slices.Equal(got, want) {
			t.Fatalf("%s in %s:\n got %s\nwant %s", text, name, show(got, z), show(want, z))
		}
	})
}

// Where the two differ on purpose. Each row holds for both, so that the list stays true.
func TestNext_disagrees_with_robfig_cron(t *testing.T) {
	tests := []struct {
		reason            string
		zone, text, after string
		ours, theirs      string // the next slot, "error" or "none"
	}{
		{
			"a reading in a gap is moved, not dropped until the next day",
			"Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z",
		},
		{
			"the same at midnight",
			"America/Sao_Paulo", "30 0 * * *", "2018-11-03T12:00:00Z", "2018-11-04T03:30:00Z", "2018-11-05T02:30:00Z",
		},
		{
			"nothing is lost after a change by half an hour",
			"Australia/Lord_Howe", "0 0 * 1 0", "1981-01-31T00:00:00Z", "1982-01-02T12:30:00Z", "1982-01-09T12:30:00Z",
		},
		{
			"a time of day runs once in an overlap, not twice",
			"Europe/Berlin", "30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-25T01:30:00Z",
		},
		{
			"a 29 February is found however long it takes",
			"UTC", "0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z", "none",
		},
		{
			"a day field that begins with * means and, also with a step (POSIX and Vixie cron)",
			"UTC", "0 0 */15 * MON", "2026-01-01T00:00:00Z", "2026-02-16T00:00:00Z", "2026-01-05T00:00:00Z",
		},
		{"7 is Sunday", "UTC", "0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "error"},
		{"ranges may run backwards", "UTC", "0 22-4 * * *", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "error"},
		{"the last day of the month", "UTC", "0 0 L * *", "2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z", "error"},
		{"intervals count from the epoch, not from when one asks", "UTC", "@every 1h", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:10:00Z"},
		{"a date that never comes is an error", "UTC", "0 0 30 2 *", "2026-01-01T00:00:00Z", "error", "none"},
		{"a step longer than its field is an error", "UTC", "*/60 * * * *", "2026-01-01T00:00:00Z", "error", "2026-01-01T01:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			z := zone(t, tt.zone)
			after, err := time.Parse(time.RFC3339, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			ours := "error"
			if s, err := schedule.Parse(tt.text, schedule.Options{Zone: z}); err == nil {
				ours = "none"
				if slot, ok := s.Next(schedule.SlotOf(after)); ok {
					ours = slot.Time().Format(time.RFC3339)
				}
			}
			theirs := "error"
			if s, err := robfig.ParseStandard(tt.text); err == nil {
				theirs = "none"
				if at := s.Next(after.In(z.Time(0).Location())); !at.IsZero() {
					theirs = at.UTC().Format(time.RFC3339)
				}
			}
			if ours != tt.ours || theirs != tt.theirs {
				t.Errorf("ours: got %s, want %s; robfig/cron: got %s, want %s", ours, tt.ours, theirs, tt.theirs)
			}
		})
	}
}
