package schedule_test

import (
	"errors"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// FuzzParse checks what must hold for any text: Parse ends, an error points into the text and shows
// a way out, and a schedule has rising slots no nearer than its least gap.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"* * * * *", "30 2 * * *", "*/10 * * * * *", "0 0 29 2 *", "0 0 30 2 *", "55-5 * * * * ?", "5-1 * * * *", "60 * * * *", "1,,2 * * * *",
		"*/99999999999 * * * *", "TZ=0", "CRON_TZ=UTC", "@every 0s", "@every 1h30m/5m", "@at 2027-01-31T02:30:00Z", "@reboot", "@daily",
		"0 0 L-3W,15W,LW,L * *", "0 0 13 * MON#2,FRIL,7", "H H(0-7)/2 * * *", "0 22-4/3 * NOV-FEB FRI-MON", "0 0 */28 2 SUN",
		"0 0 L-30 2-2 ?", "?,1 * */31 * *", "0 0 1-31 1-12 0-7", "*/45 */25 */7 * *",
	} {
		f.Add(text, uint8(1), uint8(0), int64(1_774_746_000_000))
		f.Add(text, uint8(2), uint8(5), int64(-1))
	}
	zones := []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo"}
	gaps := []schedule.Gap{schedule.GapShift, schedule.GapEnd, schedule.GapSkip}
	overlaps := []schedule.DSTOverlap{schedule.OverlapFirst, schedule.OverlapSecond, schedule.OverlapBoth}
	f.Fuzz(func(t *testing.T, text string, zoneIndex, dst uint8, after int64) {
		watchdog := time.AfterFunc(10*time.Second, func() { panic("it doesn't end: " + text) })
		defer watchdog.Stop()
		z := zone(t, zones[int(zoneIndex)%len(zones)])
		o := schedule.Options{Zone: z, DST: schedule.DST{Gap: gaps[dst%3], Overlap: overlaps[dst/3%3]}, Job: "backup"}
		s, err := schedule.Parse(text, o)
		if err != nil {
			checkError(t, text, err)
			return
		}
		if s.Words() == "" {
			t.Errorf("%q has no words", text)
		}
		s.Notes()
		s.Nights(schedule.Slot(after), 400)
		checkReadBack(t, s, o)
		checkSlots(t, s, schedule.Slot(after))
	})
}

func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var e *schedule.ParseError
	switch {
	case !errors.As(err, &e):
		t.Fatalf("%q: %v isn't a ParseError", text, err)
	case e.Offset < 0 || e.Len < 0 || e.Offset+e.Len > len(text):
		t.Fatalf("%q: the range %d+%d isn't in the text", text, e.Offset, e.Len)
	case text[e.Offset:e.Offset+e.Len] != e.Value:
		t.Fatalf("%q: the range isn't the value %q", text, e.Value)
	case e.Field == "" || e.Msg == "" || e.Hint == "":
		t.Fatalf("%q: a part of %#v is missing", text, e)
	}
}

// checkSlots walks from two sides: by Next, and by asking at each slot's predecessor.
func checkSlots(t *testing.T, s *schedule.Schedule, after schedule.Slot) {
	t.Helper()
	inUTC := s.Zone() == schedule.UTC()
	slot, ok := s.Next(after)
	for range 50 {
		if !ok {
			return
		}
		if slot <= after || slot%1000 != 0 {
			t.Fatalf("%q: Next(%d) = %d", s, after, slot)
		}
		if again, _ := s.Next(slot - 1); again != slot {
			t.Fatalf("%q: Next(%d) = %d, but it is %d just before", s, after, slot, again)
		}
		if middle, _ := s.Next(after + (slot-after)/2); slot-after > 1 && middle != slot {
			t.Fatalf("%q: Next(%d) = %d, but it is %d halfway", s, after, slot, middle)
		}
		next, more := s.Next(slot)
		if gap := next.Time().Sub(slot.Time()); more && inUTC && gap < s.MinGap() {
			t.Fatalf("%q: a gap of %s, the least is %s", s, gap, s.MinGap())
		}
		after, slot, ok = slot, next, more
	}
}
