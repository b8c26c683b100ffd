package event

import (
	"context"
	"log/slog"
)

// The keys of log attributes, the same in every package.
const (
	KeyRun      = "run"
	KeyJob      = "job"
	KeySlot     = "slot" // milliseconds since the Unix epoch
	KeyDelay    = "delay"
	KeyAttempt  = "attempt"
	KeyTakeover = "takeover"
	KeyCount    = "count"
	KeyHolder   = "holder"
	KeyOutcome  = "outcome"
	KeyExitCode = "exit_code"
	KeyTook     = "took"
	KeyReason   = "reason"
	KeyInstance = "instance"
	KeyStore    = "store"
	KeyErr      = "err"
)

// Log returns a subscriber that writes each event as one line, whose message is the event's
// kind. Losing a claim is normal, and a debug line.
func Log(log *slog.Logger) func(Event) {
	return func(e Event) {
		level := e.level()
		if !log.Enabled(context.Background(), level) { //nolint:forbidigo // no handler of ours looks at it
			return
		}
		log.LogAttrs(context.Background(), level, string(e.Kind), e.attrs()...) //nolint:forbidigo,sloglint // as above; a kind is one of a few constants
	}
}

func (e Event) level() slog.Level {
	switch e.Kind {
	case Taken, Started:
		return slog.LevelDebug
	case Late, Lost, Unknown, Refused:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

func (e Event) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String(KeyRun, e.Run.String()), slog.String(KeyJob, e.Run.Job), slog.Int64(KeySlot, int64(e.Run.Slot)),
		slog.Duration(KeyDelay, e.Delay),
	}
	if e.Attempt > 0 {
		attrs = append(attrs, slog.Int(KeyAttempt, e.Attempt))
	}
	if e.Takeover {
		attrs = append(attrs, slog.Bool(KeyTakeover, true))
	}
	if e.Count > 1 {
		attrs = append(attrs, slog.Int(KeyCount, e.Count))
	}
	if e.Holder != "" {
		attrs = append(attrs, slog.String(KeyHolder, e.Holder))
	}
	if e.Outcome != "" {
		attrs = append(attrs, slog.String(KeyOutcome, e.Outcome), slog.Int(KeyExitCode, e.ExitCode), slog.Duration(KeyTook, e.Took))
	}
	if e.Reason != "" {
		attrs = append(attrs, slog.String(KeyReason, e.Reason))
	}
	return attrs
}
