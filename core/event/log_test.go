package event_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
)

// lines returns what the subscriber writes for the events, without the time.
func lines(level slog.Level, events ...event.Event) string {
	var b strings.Builder
	drop := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	write := event.Log(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level, ReplaceAttr: drop})))
	for _, e := range events {
		write(e)
	}
	return b.String()
}

// TestLog_levels: losing a claim is a debug line; what heals but deserves a look is a warning.
func TestLog_levels(t *testing.T) {
	tests := map[event.Kind]string{
		event.Taken: "DEBUG", event.Started: "DEBUG",
		event.Won: "INFO", event.Finished: "INFO", event.Overlap: "INFO", event.Released: "INFO", event.Stopped: "INFO",
		event.Late: "WARN", event.Lost: "WARN", event.Unknown: "WARN", event.Refused: "WARN",
	}
	for kind, level := range tests {
		want := "level=" + level + " msg=" + string(kind) + " run=j@19700101T000001Z job=j slot=1000 delay=2s\n"
		e := event.Event{Kind: kind, Run: job.Run{Job: "j", Slot: 1000}, Delay: 2 * time.Second}
		if got := lines(slog.LevelDebug, e); got != want {
			t.Errorf("%s is logged as %q; want %q", kind, got, want)
		}
	}
	if got := lines(slog.LevelInfo, event.Event{Kind: event.Taken}); got != "" {
		t.Errorf("taken is logged as %q at level info; want nothing", got)
	}
}

// TestLog_attributes: what is known is told, under the names that the other packages use.
func TestLog_attributes(t *testing.T) {
	e := event.Event{
		Kind: event.Finished, Run: job.Run{Job: "j", Slot: 1000}, Delay: time.Second, Attempt: 2, Takeover: true, Count: 3,
		Holder: "a", Outcome: "failed", ExitCode: 1, Took: time.Minute, Reason: "exit status 1",
	}
	want := `level=INFO msg=finished run=j@19700101T000001Z job=j slot=1000 delay=1s attempt=2 takeover=true count=3 holder=a ` +
		`outcome=failed exit_code=1 took=1m0s reason="exit status 1"` + "\n"
	if got := lines(slog.LevelInfo, e); got != want {
		t.Errorf("it is logged as %q; want %q", got, want)
	}
}
