package boottime_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
)

// uptime reads the kernel's own account, cut to a hundredth of a second.
func uptime(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	up, err := time.ParseDuration(seconds + "s")
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func TestNow_is_the_time_since_boot(t *testing.T) {
	before := uptime(t)
	now := boottime.Now()
	if after := uptime(t) + 10*time.Millisecond; now < before || now > after {
		t.Errorf("got %s, want between %s and %s", now, before, after)
	}
}

func TestNow_never_goes_back(t *testing.T) {
	last := boottime.Now()
	for range 1000 {
		now := boottime.Now()
		if now < last {
			t.Fatalf("got %s after %s", now, last)
		}
		last = now
	}
}
