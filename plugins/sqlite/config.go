package sqlite

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// The defaults of the settings.
const (
	defaultBusyTimeout = 10 * time.Second
	defaultHistorySize = 1000
)

// The values of synchronous.
const (
	syncFull   = "full"
	syncNormal = "normal"
)

// maxHistory is the largest history_size.
const maxHistory = 1_000_000

// settings are a store block's settings.
type settings struct {
	Path        string `json:"path"`
	Synchronous string `json:"synchronous"`
	BusyTimeout string `json:"busy_timeout"`
	HistorySize int    `json:"history_size"`

	busyTimeout time.Duration
}

// Schema describes the settings.
func Schema() pluginapi.Schema {
	return pluginapi.Schema{Attributes: []pluginapi.Attribute{
		{
			Name: "path", Type: pluginapi.String, Format: pluginapi.PathText, Default: json.RawMessage(`"anarchon.db"`),
			Description: "The database file; a relative path is in the data directory. Its file system must be a local one.",
			Example:     `"/var/lib/anarchon/anarchon.db"`,
		},
		{
			Name: "synchronous", Type: pluginapi.String, Default: json.RawMessage(`"full"`), OneOf: []string{"full", "normal"},
			Description: `"full" has every answer on the disk before it is given. "normal" saves the fsync of each transaction; a loss of power can then undo the last claims, and their slots run again.`,
		},
		{
			Name: "busy_timeout", Type: pluginapi.String, Format: pluginapi.DurationText, Default: json.RawMessage(`"10s"`),
			Description: "How long to wait for the lock while another instance writes, from 100ms to 60s; after that the answer is that the store is unavailable, and the instance asks again.",
		},
		{
			Name: "history_size", Type: pluginapi.Number, Default: json.RawMessage(`1000`),
			Description: "How many ended runs of each job are kept for the history, from 0 to 1000000. They go in steps of up to 64, and not within ten minutes of their end. Forgetting one never lets its slot run again.",
		},
	}}
}

// parse checks the settings and returns all that is wrong with them as one Invalid error.
func parse(config pluginapi.Config) (settings, error) {
	s := settings{Synchronous: syncFull, BusyTimeout: defaultBusyTimeout.String(), HistorySize: defaultHistorySize}
	if err := pluginapi.DecodeSettings(config, &s); err != nil {
		return s, err
	}
	var found []pluginapi.Diagnostic
	wrong := func(name, format string, args ...any) {
		found = append(found, pluginapi.Diagnostic{
			Code: "sqlite." + name, Summary: fmt.Sprintf(format, args...), Path: pluginapi.Attr(name),
		})
	}
	switch {
	case s.Path == "":
		wrong("path", "want the path of the database file")
	case !filepath.IsAbs(s.Path):
		wrong("path", "%q is relative here; want an absolute path", s.Path)
	case strings.ContainsRune(s.Path, 0):
		wrong("path", "%q has a NUL character, which no path may", s.Path)
	}
	if s.Synchronous != syncFull && s.Synchronous != syncNormal {
		wrong("synchronous", `%q is neither "full" nor "normal"`, s.Synchronous)
	}
	var err error
	s.busyTimeout, err = time.ParseDuration(s.BusyTimeout)
	if err != nil || s.busyTimeout < 100*time.Millisecond || s.busyTimeout > time.Minute {
		wrong("busy_timeout", "%q isn't a duration from 100ms to 60s", s.BusyTimeout)
	}
	if s.HistorySize < 0 || s.HistorySize > maxHistory {
		wrong("history_size", "%d isn't from 0 to %d", s.HistorySize, maxHistory)
	}
	if len(found) > 0 {
		return s, &pluginapi.Error{Code: pluginapi.Invalid, Op: "configure", Diagnostics: found}
	}
	return s, nil
}

// info is what the store gives with the settings.
func (s settings) info() pluginapi.Info {
	info := pluginapi.Info{
		Kind: pluginapi.Lease, HasHistory: true,
		Limits: pluginapi.Limits{MaxInFlight: 2}, // one writes; the next gathers, and answers what needs no write
		Guarantee: "Exactly one winner for each slot, among instances on this machine, through kill -9 and loss of power " +
			"(if the disk keeps what it said was flushed).",
	}
	if s.Synchronous == syncNormal {
		info.Guarantee = "Exactly one winner for each slot, among instances on this machine, through kill -9; " +
			"after a loss of power the slots claimed last may run again."
		info.Warnings = []pluginapi.Diagnostic{{
			Severity: pluginapi.SeverityWarning, Code: "sqlite.synchronous", Path: pluginapi.Attr("synchronous"),
			Summary: "after a loss of power the slots claimed last may run twice",
			Detail:  `synchronous = "full" waits for the disk, once for all claims that come together`,
		}}
	}
	return info
}
