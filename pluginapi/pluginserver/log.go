package pluginserver

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

// timestamp has exactly microseconds: go-plugin's parser wants it so, and other hosts of
// go-plugin then read our lines as well.
const timestamp = "2006-01-02T15:04:05.000000Z07:00"

// newLogger returns a logger that writes the lines that go-plugin defines: JSON objects with
// @level, @message and @timestamp.
func newLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return a
			}
			switch a.Key {
			case slog.TimeKey:
				return slog.String("@timestamp", asTime(a.Value).Format(timestamp))
			case slog.LevelKey:
				return slog.String("@level", strings.ToLower(a.Value.String()))
			case slog.MessageKey:
				return slog.String("@message", a.Value.String())
			default:
				return a
			}
		},
	}))
}

// asTime returns the record's time, or now for an attribute of another kind by that name.
func asTime(v slog.Value) time.Time {
	if v.Kind() == slog.KindTime {
		return v.Time()
	}
	return time.Now()
}

// levelFromEnv returns the level that anarchon asks for; Info without one.
func levelFromEnv() *slog.LevelVar {
	level := &slog.LevelVar{}
	_ = level.UnmarshalText([]byte(os.Getenv(handshake.LogLevel))) // unknown: stays Info
	return level
}

// ignoreSignals keeps the signals that are meant for anarchon from ending the plugin, which
// must outlive it; see the package's doc. A broken pipe as standard error mustn't end it
// either, since the store still has to be closed. The result undoes it.
func ignoreSignals(log *slog.Logger) (undo func()) {
	signals := make(chan os.Signal, 1) // a signal that is dropped was to be ignored anyway
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case got := <-signals:
				if got != syscall.SIGPIPE { // logging would raise the next one
					log.LogAttrs(context.Background(), slog.LevelDebug, "signal ignored", slog.String("signal", got.String())) //nolint:forbidigo // no caller
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
