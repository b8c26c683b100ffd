package schedule_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// zoneNames returns the names of all embedded zones.
func zoneNames(t *testing.T) []string {
	t.Helper()
	archive, err := zip.OpenReader("zoneinfo/zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if len(names) < 400 {
		t.Fatalf("only %d zones", len(names))
	}
	return names
}

func TestLoadZone_refuses(t *testing.T) {
	tests := []struct{ name, says string }{
		{"", "empty"},
		{"Local", "host's zone"},
		{"local", "host's zone"},
		{"LOCAL", "host's zone"},
		{"europe/berlin", `did you mean "Europe/Berlin"?`},
		{"Berlin", `did you mean "Europe/Berlin"?`},
		{"Europe/Berln", `did you mean "Europe/Berlin"?`},
		{"america/new york", `did you mean "America/New_York"?`},
		{"utc", `did you mean "UTC"?`},
		{"UTC+1", "time zone database"},
		{"+01:00", "IANA name"},
		{"../../etc/passwd", "IANA name"},
		{"/etc/localtime", "IANA name"},
		{"Europe/", "time zone database"},
		{"Europe/Berlin/", "time zone database"},
		{"./Europe/Berlin", "time zone database"},
		{"Europe/../Europe/Berlin", "time zone database"},
		{`Europe\Berlin`, "time zone database"},
		{"Europe/Berlin\x00", "time zone database"},
		{strings.Repeat("x", 1_000_000), "IANA name"},
	}
	for _, tt := range tests {
		_, err := schedule.LoadZone(tt.name)
		var got *schedule.ParseError
		if !errors.As(err, &got) || got.Field != "time_zone" || got.Len != len(tt.name) || got.Hint == "" {
			t.Errorf("%.40q: got %v, want an error about the time zone with a hint", tt.name, err)
			continue
		}
		if !strings.Contains(got.Msg+" "+got.Hint, tt.says) {
			t.Errorf("%.40q: %q doesn't say %q", tt.name, err, tt.says)
		}
	}
}

// Host files and the TZ variable don't matter, and equal names are one zone.
func TestLoadZone_shares_zones(t *testing.T) {
	t.Setenv("ZONEINFO", "/nowhere")
	t.Setenv("TZ", "Asia/Tokyo")
	first, second := zone(t, "Europe/Berlin"), zone(t, "Europe/Berlin")
	if first != second {
		t.Error("a zone was loaded twice")
	}
	if zone(t, "UTC") != schedule.UTC() {
		t.Error(`LoadZone("UTC") isn't UTC()`)
	}
	if got := first.String(); got != "Europe/Berlin" {
		t.Errorf("String: got %q", got)
	}
	if got := first.Time(0).Format(time.RFC3339); got != "1970-01-01T01:00:00+01:00" {
		t.Errorf("Time: got %s", got)
	}
}

func TestZoneDataVersion(t *testing.T) {
	if v := schedule.ZoneDataVersion(); !regexp.MustCompile(`^20\d\d[a-z]$`).MatchString(v) {
		t.Errorf("got %q", v)
	}
	script, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "lib", "time", "update.bash")) //nolint:staticcheck // the tests run where Go is
	if err != nil || !strings.Contains(string(script), "DATA="+schedule.ZoneDataVersion()) {
		t.Skipf("this Go has other zone data: %v", err)
	}
	ours, err := os.ReadFile("zoneinfo/zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip")) //nolint:staticcheck // as above
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ours, theirs) {
		t.Error("the embedded zone data isn't Go's of the same version")
	}
}

// zoneChanges returns the changes of a zone's offset in some years, found without this package.
func zoneChanges(location *time.Location, from, to int) []time.Time {
	var found []time.Time
	offset := func(t time.Time) int {
		_, o := t.In(location).Zone()
		return o
	}
	const stride = 24 * time.Hour // changes are farther apart, as TestZone_changes_are_far_apart shows
	end := time.Date(to, time.January, 1, 0, 0, 0, 0, time.UTC)
	before := offset(time.Date(from, time.January, 1, 0, 0, 0, 0, time.UTC))
	for t := time.Date(from, time.January, 2, 0, 0, 0, 0, time.UTC); t.Before(end); t = t.Add(stride) {
		last := before
		if before = offset(t); before == last {
			continue
		}
		low, high := t.Add(-stride), t
		for high.Sub(low) > time.Second {
			if mid := low.Add(high.Sub(low) / 2).Truncate(time.Second); offset(mid) == offset(low) {
				low = mid
			} else {
				high = mid
			}
		}
		found = append(found, high)
	}
	return found
}

// sampled returns every nth name where time is short.
func sampled(names []string, n int) []string {
	if !testing.Short() && !raceEnabled {
		return names
	}
	var some []string
	for i := 0; i < len(names); i += n {
		some = append(some, names[i])
	}
	return some
}

// Every zone, from 1970 to 2040: an interval, a time in the usual gap and a time of each hour have
// the slots that brute force finds around every change, and a steady rhythm in between.
func TestNext_in_every_zone(t *testing.T) {
	at := func(minutes ...int) func(time.Time) bool {
		return func(r time.Time) bool { return slices.Contains(minutes, r.Minute()) && r.Second() == 0 }
	}
	expressions := []expression{
		{text: "*/30 * * * *", matches: at(0, 30), interval: true},
		{text: "15 * * * *", matches: at(15), interval: true},
		{text: "30 2 * * *", matches: func(r time.Time) bool { return r.Hour() == 2 && at(30)(r) }},
	}
	from := time.Date(1970, time.January, 2, 0, 0, 0, 0, time.UTC)
	seen := map[string]bool{} // many names are links to one zone
	for _, name := range sampled(zoneNames(t), 12) {
		z := zone(t, name)
		location := z.Time(0).Location()
		nights := parse(t, "0 0 1 1 *", schedule.Options{Zone: z}).Nights(0, 365*70)
		key := nightsKey(nights)
		if seen[key] {
			continue
		}
		seen[key] = true
		var schedules []*schedule.Schedule
		for _, e := range expressions {
			schedules = append(schedules, parse(t, e.text, schedule.Options{Zone: z}))
		}
		for _, night := range nights {
			if night.After%time.Minute != 0 || night.Before%time.Minute != 0 {
				continue // Liberia before 1972: brute force by the minute can't follow
			}
			change := (night.After - night.Before).Abs()
			start, end := night.At.Time().Add(-change-time.Hour), night.At.Time().Add(change+time.Hour)
			clock := watch(location, start, end, time.Minute)
			for i, e := range expressions {
				got, want := slotsBetween(schedules[i], start, end), clock.slots(e, schedule.DST{Gap: schedule.GapShift})
				if !slices.Equal(got, want) {
					t.Fatalf("%s in %s:\n got %s\nwant %s", e.text, name, show(got, z), show(want, z))
				}
			}
		}
		daily := parse(t, "30 2 * * *", schedule.Options{Zone: z})
		checkDays(t, daily, z, from, from.AddDate(70, 0, 0))
	}
}

func nightsKey(nights []schedule.Night) string {
	var b strings.Builder
	for _, n := range nights {
		b.WriteString(n.At.Time().Format(time.RFC3339))
		b.WriteString(n.After.String())
	}
	return b.String()
}

// checkDays tells whether a daily schedule has one slot on each date of the zone, except for dates that
// don't exist.
func checkDays(t *testing.T, s *schedule.Schedule, z *schedule.Zone, from, to time.Time) {
	t.Helper()
	date := func(slot schedule.Slot) int64 {
		local := z.Time(slot)
		_, offset := local.Zone()
		return (local.Unix() + int64(offset)) / 86400
	}
	slots := slotsBetween(s, from, to)
	for i := range slots[1:] {
		if days := date(slots[i+1]) - date(slots[i]); days != 1 && !isDateline(z, slots[i]) {
			t.Fatalf("%s in %s: %d days from %s to %s", s, z, days, z.Time(slots[i]), z.Time(slots[i+1]))
		}
	}
}

func daysBetween(a, b time.Time) int {
	midnight := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(midnight(b).Sub(midnight(a)) / (24 * time.Hour))
}

// isDateline tells whether the zone crosses the date line within two days of the slot.
func isDateline(z *schedule.Zone, slot schedule.Slot) bool {
	offset := func(t time.Time) int {
		_, o := t.In(z.Time(0).Location()).Zone()
		return o
	}
	change := offset(slot.Time().Add(48*time.Hour)) - offset(slot.Time().Add(-48*time.Hour))
	return change > 12*3600 || change < -12*3600
}

// The search relies on it that a change is never near another one.
func TestZone_changes_are_far_apart(t *testing.T) {
	first := schedule.SlotOf(time.Date(1900, time.January, 1, 0, 0, 0, 0, time.UTC))
	for _, name := range zoneNames(t) {
		nights := parse(t, "@daily", schedule.Options{Zone: zone(t, name)}).Nights(first, 300*365)
		for i := range nights[:max(0, len(nights)-1)] {
			a, b := nights[i], nights[i+1]
			if apart := b.At.Time().Sub(a.At.Time()); apart < (a.After-a.Before).Abs()+(b.After-b.Before).Abs()+24*time.Hour {
				t.Errorf("%s: the changes at %s and %s are too near", name, a.At.Time(), b.At.Time())
			}
		}
	}
}

// Each zone's table has the changes that package time has, to the second.
func TestZone_changes_are_those_of_package_time(t *testing.T) {
	from := time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)
	names := append(sampled(zoneNames(t), 12), "America/Ciudad_Juarez", "Africa/Casablanca", "Pacific/Apia", "Asia/Gaza")
	for _, name := range names {
		z := zone(t, name)
		want := zoneChanges(z.Time(0).Location(), 1970, 2040)
		var got []time.Time
		for _, n := range parse(t, "@daily", schedule.Options{Zone: z}).Nights(schedule.SlotOf(from), 365*75) {
			if n.At.Time().Year() < 2040 {
				got = append(got, n.At.Time())
			}
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("%s: got %d changes, want %d:\n%v\n%v", name, len(got), len(want), got, want)
		}
	}
}
