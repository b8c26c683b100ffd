package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// Every mistake is pointed at: the field, the bytes of the text, what is allowed, a way out.
func TestParse_refuses(t *testing.T) {
	tests := []struct {
		text, field, value string // value is also what the range in the text must hold
		says               string // in the message or the hint
	}{
		{"", "schedule", "", "empty"},
		{" \t ", "schedule", "", "empty"},
		{"* * * *", "schedule", "* * * *", "and not 4"},
		{"hello", "schedule", "hello", "and not 1"},
		{"0 0 0 1 1 * 2027", "schedule", "2027", "no field for the year"},
		{"* * * * * * * * * *", "schedule", "* * * *", "5 fields, or 6"},
		{strings.Repeat("1,", 5000) + "1 * * * *", "schedule", "*", "256 bytes"},
		// Values.
		{"60 * * * *", "minute", "60", "0 to 59"},
		{"0 60 * * * *", "minute", "60", "second minute hour"},
		{"60 0 * * * *", "second", "60", "0 to 59"},
		{"* 24 * * *", "hour", "24", "0 to 23"},
		{"* * 0 * *", "day of month", "0", "1 to 31"},
		{"* * 32 * *", "day of month", "32", "1 to 31"},
		{"* * * 0 *", "month", "0", "1 to 12"},
		{"* * * 13 *", "month", "13", "JAN to DEC"},
		{"* * * * 8", "weekday", "8", "0 to 7"},
		{"99999999999999999999 * * * *", "minute", "99999999999999999999", "0 to 59"},
		{"4294967296 * * * *", "minute", "4294967296", "0 to 59"},
		{"-5 * * * *", "minute", "-5", "no sign"},
		{"+5 * * * *", "minute", "+5", "without a sign"},
		{"1.5 * * * *", "minute", "1.5", "0 to 59"},
		{"0x1 * * * *", "minute", "0x1", "0 to 59"},
		{"٣ * * * *", "minute", "٣", "0 to 59"},
		{"1\n * * * *", "minute", "1\n", "0 to 59"},
		{"JAN * * * *", "minute", "JAN", "0 to 59"},
		{"* * * MON *", "month", "MON", "JAN to DEC"},
		{"* * * January *", "month", "January", "write JAN"},
		{"* * * * weekdays", "weekday", "weekdays", "SUN to SAT"},
		{"* * * * Tuesday", "weekday", "Tuesday", "write TUE"},
		// Lists, ranges, steps.
		{"1,,2 * * * *", "minute", "1,,2", "empty"},
		{",1 * * * *", "minute", ",1", "empty"},
		{"1, * * * *", "minute", "1,", "empty"},
		{"1- * * * *", "minute", "1-", "a first and a last"},
		{"1-2-3 * * * *", "minute", "2-3", "0 to 59"},
		{"1-60 * * * *", "minute", "60", "0 to 59"},
		{"*/0 * * * *", "minute", "0", "1 to 59"},
		{"*/ * * * *", "minute", "*/", "1 to 59"},
		{"/5 * * * *", "minute", "/5", "*/n"},
		{"*/60 * * * *", "minute", "60", "longer than the field"},
		{"*/99999999999 * * * *", "minute", "99999999999", "longer than the field"},
		{"* */24 * * *", "hour", "24", "longer than the field"},
		{"*/5/5 * * * *", "minute", "5/5", "number from 1"},
		{"*/-5 * * * *", "minute", "-5", "number from 1"},
		{"*-5 * * * *", "minute", "*", "0 to 59"},
		{"** * * * *", "minute", "**", "0 to 59"},
		// Special days belong to their fields.
		{"L * * * *", "minute", "L", "belong to the day of month"},
		{"* * * L *", "month", "L", "belong to the day of month"},
		{"* 5W * * *", "hour", "5W", "belong to the day of month"},
		{"5#2 * * * *", "minute", "5#2", "belongs to the weekday"},
		{"0 0 5#2 * *", "day of month", "5#2", "belongs to the weekday"},
		{"0 0 * * L", "weekday", "L", "SATL"},
		{"0 0 * * 8L", "weekday", "8", "0 to 7"},
		{"0 0 * * MON#6", "weekday", "6", "1 to 5"},
		{"0 0 * * MON#0", "weekday", "0", "1 to 5"},
		{"0 0 * * MON#", "weekday", "MON#", "1 to 5"},
		{"0 0 * * #2", "weekday", "", "0 to 7"},
		{"0 0 * * MON#2/2", "weekday", "MON#2/2", "no step"},
		{"0 0 L/2 * *", "day of month", "L/2", "no step"},
		{"0 0 L-31 * *", "day of month", "L-31", "0 to 30"},
		{"0 0 L3 * *", "day of month", "L3", "L-3"},
		{"0 0 L- * *", "day of month", "L-", "L-3"},
		{"0 0 W * *", "day of month", "W", "15W"},
		{"0 0 0W * *", "day of month", "0W", "1 to 31"},
		{"0 0 1-5W * *", "day of month", "1-5W", "1 to 31"},
		// H.
		{"H(0-60) * * * *", "minute", "60", "0 to 59"},
		{"H(30-10) * * * *", "minute", "H(30-10)", "backwards"},
		{"H( * * * *", "minute", "H(", "H(a-b)"},
		{"H5 * * * *", "minute", "H5", "H(a-b)"},
		{"H(0-9)/10 * * * *", "minute", "H(0-9)", "longer than the range"},
		{"0 0 H(0-5) * *", "day of month", "0", "1 to 31"},
		// Dates that no calendar has.
		{"0 0 30 2 *", "day of month", "30 2 *", "never"},
		{"0 0 31 4,6,9,11 *", "day of month", "31 4,6,9,11 *", "never"},
		{"0 0 L-30 FEB,APR *", "day of month", "L-30 FEB,APR *", "never"},
		{"0 0 30W 2 ?", "day of month", "30W 2 ?", "never"},
		{"0 0 */30 4 MON", "", "", ""}, // 1 April can be a Monday
		{"0 0 ? 2 MON#5", "", "", ""},  // in some leap years
		// What other programs take.
		{"TZ=UTC", "schedule", "TZ=UTC", "write time_zone"},
		{"TZ=0", "schedule", "TZ=0", "write time_zone"},
		{"TZ= 0 0 * * *", "schedule", "TZ=", "write time_zone"},
		{"CRON_TZ=UTC", "schedule", "CRON_TZ=UTC", "write time_zone"},
		{" CRON_TZ=Europe/Berlin 0 0 * * *", "schedule", "CRON_TZ=Europe/Berlin", "write time_zone"},
		{"@reboot", "schedule", "@reboot", "no boot"},
		{"@Daily", "schedule", "@Daily", "@daily"},
		{"@", "schedule", "@", "@hourly"},
		{"@daily 5", "schedule", "5", "stands alone"},
		// Intervals and moments.
		{"@every", "schedule", "@every", "takes one interval"},
		{"@every 5 m", "schedule", "@every 5 m", "takes one interval"},
		{"@every 0s", "every", "0s", "1s to 366d"},
		{"@every -1m", "every", "-1m", "like 15s"},
		{"@every 1ns", "every", "1ns", "like 15s"},
		{"@every 1.5h", "every", "1.5h", "1h30m"},
		{"@every 300y", "every", "300y", "days, hours"},
		{"@every 367d", "every", "367d", "1s to 366d"},
		{"@every 99999999999999999999d", "every", "99999999999999999999d", "1s to 366d"},
		{"@every 5", "every", "5", "like 15s"},
		{"@every 5m1h", "every", "5m1h", "like 15s"},
		{"@every 5m5m", "every", "5m5m", "like 15s"},
		{"@every /5m", "every", "", "like 15s"},
		{"@every 5m/", "offset", "", "less than the interval"},
		{"@every 5m/5m", "offset", "5m", "less than the interval"},
		{"@every 5m/-1s", "offset", "-1s", "less than the interval"},
		{"@every 5m/1s/1s", "offset", "1s/1s", "less than the interval"},
		{"@at", "schedule", "@at", "takes one time"},
		{"@at tomorrow", "at", "tomorrow", "RFC 3339"},
		{"@at 2027-01-31", "at", "2027-01-31", "RFC 3339"},
		{"@at 2027-02-30T00:00:00Z", "at", "2027-02-30T00:00:00Z", "RFC 3339"},
		{"@at 2027-01-31T02:30:00.5Z", "at", "2027-01-31T02:30:00.5Z", "whole second"},
		{"@at 1969-12-31T23:59:59Z", "at", "1969-12-31T23:59:59Z", "1970"},
		{"@at 2200-01-01T00:00:00Z", "at", "2200-01-01T00:00:00Z", "2199"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := schedule.Parse(tt.text, schedule.Options{Job: "backup"})
			if tt.field == "" {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				return
			}
			var got *schedule.ParseError
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a ParseError", err)
			}
			if got.Field != tt.field {
				t.Errorf("Field: got %q, want %q", got.Field, tt.field)
			}
			if len(tt.text) <= 256 && got.Value != tt.value {
				t.Errorf("Value: got %q, want %q", got.Value, tt.value)
			}
			if at := tt.text[got.Offset : got.Offset+got.Len]; at != got.Value {
				t.Errorf("the range holds %q, the value is %q", at, got.Value)
			}
			if !strings.Contains(got.Msg+" "+got.Hint, tt.says) {
				t.Errorf("%q doesn't say %q", err, tt.says)
			}
			if got.Hint == "" {
				t.Errorf("%q shows no way out", err)
			}
		})
	}
}

// One list of errors is shown in full: it is what people read.
func TestParseError_text(t *testing.T) {
	tests := []struct{ text, want string }{
		{"0 75 2 * * *", `minute "75" at column 3: the minute goes from 0 to 59; six fields are read as: second minute hour day-of-month month weekday`},
		{"60 * * * *", `minute "60": the minute goes from 0 to 59; five fields are read as: minute hour day-of-month month weekday`},
		{"0 0 30 2 *", `day of month "30 2 *" at column 5: no day of any year matches, so it would never fire; correct the day of month, the month or the weekday`},
		{"TZ=0", `schedule "TZ=0": a time zone isn't part of the schedule's text; write time_zone beside the schedule`},
	}
	for _, tt := range tests {
		_, err := schedule.Parse(tt.text, schedule.Options{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestParse_refuses_H_without_a_job(t *testing.T) {
	_, err := schedule.Parse("H * * * *", schedule.Options{})
	if err == nil || !strings.Contains(err.Error(), "no job") {
		t.Errorf("got %v", err)
	}
}

func TestParse_refuses_unknown_DST_settings(t *testing.T) {
	for _, tt := range []struct {
		dst   schedule.DST
		field string
	}{
		{schedule.DST{Gap: "jump"}, "dst.gap"},
		{schedule.DST{Overlap: "third"}, "dst.overlap"},
	} {
		for name, err := range map[string]error{
			"Parse": second(schedule.Parse("* * * * *", schedule.Options{DST: tt.dst})),
			"Every": second(schedule.Every(time.Minute, 0, schedule.Options{DST: tt.dst})),
		} {
			var got *schedule.ParseError
			if !errors.As(err, &got) || got.Field != tt.field || !strings.Contains(got.Msg, "must be") {
				t.Errorf("%s with %v: got %v, want an error about %s", name, tt.dst, err, tt.field)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A schedule's text is read as the same schedule again.
func TestString_is_read_back(t *testing.T) {
	tests := []struct{ text, want string }{
		{"* * * * *", "* * * * *"},
		{"  0  9 ?\t* mon-Fri ", "0 9 * * MON-FRI"},
		{"h 3 l-2w * 5l", "H 3 L-2W * 5L"},
		{"@daily", "@daily"},
		{" @every 90m", "@every 1h30m"},
		{"@every 24h/3600s", "@every 1d/1h"},
		{"@at 2026-02-03T04:05:06+02:00", "@at 2026-02-03T02:05:06Z"},
	}
	for _, tt := range tests {
		o := schedule.Options{Job: "backup"}
		s := parse(t, tt.text, o)
		if s.String() != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, s, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpression(t)
		s, err := schedule.Parse(e.text, schedule.Options{})
		if err != nil {
			t.Skip("it never fires")
		}
		checkReadBack(t, s, schedule.Options{})
	})
}

// checkReadBack tells whether the text of s is read as a schedule with the same text and slots.
func checkReadBack(t rapid.TB, s *schedule.Schedule, o schedule.Options) {
	t.Helper()
	again, err := schedule.Parse(s.String(), o)
	if err != nil {
		t.Fatalf("%q isn't read back: %v", s, err)
	}
	if again.String() != s.String() || again.MinGap() != s.MinGap() || again.Words() != s.Words() {
		t.Fatalf("%q is read back as %q", s, again)
	}
	a, b := schedule.Slot(0), schedule.Slot(0)
	for range 20 {
		var okA, okB bool
		a, okA = s.Next(a)
		b, okB = again.Next(b)
		if a != b || okA != okB {
			t.Fatalf("%q: read back, it has the slot %d and not %d", s, b, a)
		}
	}
}
