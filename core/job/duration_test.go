package job_test

import (
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0s":                  0,
		"500ms":               500 * time.Millisecond,
		"90s":                 90 * time.Second,
		"1h30m":               90 * time.Minute,
		"1w2d3h4m5s6ms":       (9*24+3)*time.Hour + 4*time.Minute + 5*time.Second + 6*time.Millisecond,
		"1d":                  24 * time.Hour,
		"007s":                7 * time.Second,
		"2562047h47m16s854ms": 2562047*time.Hour + 47*time.Minute + 16*time.Second + 854*time.Millisecond,
	} {
		if got, err := job.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

// TestParseDuration_strict: what Go accepts in silence is refused.
func TestParseDuration_strict(t *testing.T) {
	for _, text := range []string{
		"", "0", "5", "-5m", "+5m", "1h1h", "30m1h", ".5h", "1.5h", "0.1ns", "5us", "5µs", "5M", "1H", "1 h", " 1h", "1h ",
		"h", "1h30", "9223372037s", "99999999999999999999s", "2562047h47m16s855ms", "15250284452472w", "1e3s", "1y", "１s",
	} {
		if got, err := job.ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1ms": time.Millisecond, "1m30s": 90 * time.Second, "7d": 7 * 24 * time.Hour, "-1h": -time.Hour,
	} {
		if got := job.FormatDuration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// FuzzParseDuration: what is read and written again is read as the same.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1h30m", "500ms", "1w2d3h4m5s6ms", "-5m", "0.1ns", "9223372037s", "1d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := job.ParseDuration(text)
		if err != nil {
			return
		}
		if again, err := job.ParseDuration(job.FormatDuration(d)); err != nil || again != d {
			t.Errorf("%q is %v, written %q, read again %v, %v", text, d, job.FormatDuration(d), again, err)
		}
	})
}
