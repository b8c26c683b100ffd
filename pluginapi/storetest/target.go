package storetest

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Target is what is tested: a store in this process (New) or a plugin's binary (Binary),
// with the settings that it gets.
type Target struct {
	// New returns a client that isn't configured yet, as pluginserver.Options.New does. All
	// clients, configured with Settings, are on the same data: the suite plays several
	// instances with them.
	New func(log *slog.Logger) pluginapi.Store
	// Schema is the schema of the settings, for New; a binary describes its own.
	Schema pluginapi.Schema
	// Binary is the path of a plugin's executable. Each client is then a process of its own.
	// When it is set, New, Skewed and Schema aren't used.
	Binary string
	// PlainText starts the binary without TLS, for plugins that have none.
	PlainText bool
	// Settings are settings that work; nil means none.
	Settings json.RawMessage
	// Bad are settings that the store must refuse.
	Bad []BadSettings
	// Secret is a text that stands in Settings or Bad and must never be shown: not in an error,
	// a log line, or an answer. "" means that the settings hold no secret.
	Secret string

	// Advance moves the store's clock forward; nil means that its clock can't be set, and
	// checks wait until the store says that a lease has ended.
	Advance func(d time.Duration)
	// Skewed returns a client like New's in a process whose own clock is off by skew, while
	// the store's clock is right; nil means that this can't be played.
	Skewed func(log *slog.Logger, skew time.Duration) pluginapi.Store
	// Stall keeps the backend from answering claims until resume is called; nil means that
	// this can't be played.
	Stall func(ctx context.Context) (resume func(), err error)
	// Restart ends the backend's server in the hardest way and starts it again on the same
	// data; nil means that this can't be played.
	Restart func(ctx context.Context) error
}

// BadSettings are settings with one thing wrong.
type BadSettings struct {
	// Name says what is wrong with them.
	Name string
	// Settings are the settings.
	Settings json.RawMessage
	// Path is the attribute that a diagnostic must point at.
	Path []pluginapi.Step
}
