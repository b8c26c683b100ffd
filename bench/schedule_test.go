package bench_test

import (
	"testing"
	"time"

	gorhill "github.com/gorhill/cronexpr"
	hashicorp "github.com/hashicorp/cronexpr"
	robfig "github.com/robfig/cron/v3"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// expressions are read alike by every library here.
var expressions = []struct{ name, text string }{
	{"every_minute", "* * * * *"},
	{"daily", "30 2 * * *"},
	{"the_31st", "0 0 31 * *"},
	{"29_February", "0 0 29 2 *"},
}

// from and to bound the walk of a benchmark; it begins again at the end. Later, package time finds
// offsets more slowly, which would count against the others.
var (
	from = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	to   = time.Date(2037, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// BenchmarkScheduleNext finds the next slot in New York, beside three other libraries.
func BenchmarkScheduleNext(b *testing.B) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	zone, err := schedule.LoadZone("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range expressions {
		b.Run(e.name+"/anarchon", func(b *testing.B) {
			s, err := schedule.Parse(e.text, schedule.Options{Zone: zone})
			if err != nil {
				b.Fatal(err)
			}
			benchmarkNext(b, s)
		})
		b.Run(e.name+"/robfig", func(b *testing.B) {
			s, err := robfig.ParseStandard(e.text)
			if err != nil {
				b.Fatal(err)
			}
			walk(b, newYork, s.Next)
		})
		b.Run(e.name+"/hashicorp", func(b *testing.B) {
			s, err := hashicorp.Parse(e.text)
			if err != nil {
				b.Fatal(err)
			}
			walk(b, newYork, s.Next)
		})
		b.Run(e.name+"/gorhill", func(b *testing.B) {
			s, err := gorhill.Parse(e.text)
			if err != nil {
				b.Fatal(err)
			}
			walk(b, newYork, s.Next)
		})
	}
}

// BenchmarkScheduleHard finds the next slot of expressions that need the most looking, some of
// which only this project reads.
func BenchmarkScheduleHard(b *testing.B) {
	zone, err := schedule.LoadZone("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range []struct{ name, text string }{
		{"every_second", "* * * * * *"},
		{"29_February_on_a_Sunday", "0 0 */28 2 SUN"},
		{"weekdays", "0 9 * * MON-FRI"},
		{"yearly", "@yearly"},
		{"last_workday", "0 9 LW * *"},
		{"workday_nearest_15th_and_15th_from_the_end", "0 9 15W,L-15W * *"},
		{"fifth_Friday", "0 9 * * FRI#5"},
		{"Sunday_1_or_31_December", "0 0 */30 12 SUN"},
	} {
		b.Run(e.name, func(b *testing.B) {
			s, err := schedule.Parse(e.text, schedule.Options{Zone: zone})
			if err != nil {
				b.Fatal(err)
			}
			benchmarkNext(b, s)
		})
	}
}

func benchmarkNext(b *testing.B, s *schedule.Schedule) {
	b.Helper()
	b.ReportAllocs()
	first, last := schedule.SlotOf(from), schedule.SlotOf(to)
	slot := first
	for b.Loop() {
		next, ok := s.Next(slot)
		if !ok || next > last {
			next = first
		}
		slot = next
	}
}

func walk(b *testing.B, zone *time.Location, next func(time.Time) time.Time) {
	b.Helper()
	b.ReportAllocs()
	t := from.In(zone)
	for b.Loop() {
		t = next(t)
		if t.IsZero() || t.After(to) {
			t = from.In(zone)
		}
	}
}

// BenchmarkScheduleParse reads the text of a schedule.
func BenchmarkScheduleParse(b *testing.B) {
	for _, text := range []string{"* * * * *", "30 2 * * *", "*/15 9-17 1,15 JAN-JUN *"} {
		b.Run("anarchon/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schedule.Parse(text, schedule.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("robfig/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := robfig.ParseStandard(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("hashicorp/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := hashicorp.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("impossible_date", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schedule.Parse("0 0 30 2 *", schedule.Options{}); err == nil {
				b.Fatal("30 February was accepted")
			}
		}
	})
}
