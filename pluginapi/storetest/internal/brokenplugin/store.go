package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/internal/broken"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest/internal/journal"
)

var schema = pluginapi.Schema{Attributes: []pluginapi.Attribute{
	{Name: "path", Type: pluginapi.String, Format: pluginapi.PathText, Required: true, Description: "The file with the data."},
	{Name: "fault", Type: pluginapi.String, Description: "What is broken; nothing when absent."},
	{Name: "password", Type: pluginapi.String, Description: "A secret that protects nothing."},
}}

type settings struct {
	Path     string       `json:"path"`
	Fault    broken.Fault `json:"fault"`
	Password string       `json:"password"`
}

// store is a journal store that has the fault; it is there once it is configured.
type store struct {
	pluginapi.LeaseStore
	log    *slog.Logger
	fault  broken.Fault // by the program's name; the setting comes first
	stderr *os.File     // go-plugin replaces os.Stderr
}

func newStore(log *slog.Logger, fault broken.Fault) *store {
	return &store{log: log, fault: fault, stderr: os.Stderr}
}

func (s *store) Validate(_ context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	_, err := decode(config)
	return pluginapi.Info{
		Kind: pluginapi.Lease, HasHistory: true, Limits: pluginapi.Limits{MaxInFlight: 1},
		Guarantee: "what the reference store guarantees, but for the fault",
	}, err
}

func decode(config pluginapi.Config) (set settings, err error) {
	if err := pluginapi.DecodeSettings(config, &set); err != nil {
		return set, err
	}
	if set.Path == "" {
		return set, &pluginapi.Error{Code: pluginapi.Invalid, Op: "settings", Diagnostics: []pluginapi.Diagnostic{
			{Summary: "path is empty: name a file", Path: pluginapi.Attr("path")},
		}}
	}
	return set, nil
}

func (s *store) Configure(ctx context.Context, config pluginapi.Config) (pluginapi.Info, error) {
	set, err := decode(config)
	if err != nil {
		return pluginapi.Info{}, err
	}
	if set.Fault != "" {
		s.fault = set.Fault
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "opening the journal", slog.String("path", set.Path))
	s.misbehave(ctx, set)
	data, err := journal.Open(set.Path)
	if err != nil {
		return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Unavailable, "configure", "%w", err)
	}
	if s.LeaseStore != nil {
		_ = s.LeaseStore.Close(ctx) // the file of the configuration before
	}
	s.LeaseStore = broken.NewWorld().Break(data, s.fault, 0)
	return s.Validate(ctx, config)
}

// misbehave does what the faults of processes do.
func (s *store) misbehave(ctx context.Context, set settings) {
	switch s.fault {
	case plainLog:
		_, _ = fmt.Fprintln(s.stderr, "opening the journal")
	case loudLog:
		_, _ = fmt.Fprintln(s.stderr, `{"@level":"info","@message":"opening the journal","@timestamp":"2026-12-01T00:00:00.000000Z"}`)
	case leaksSecret:
		s.log.LogAttrs(ctx, slog.LevelInfo, "connecting", slog.String("dsn", "user:"+set.Password+"@host"))
	case diesOfSigterm:
		signal.Reset(syscall.SIGTERM)
	default: // the faults of stores are broken's
	}
}

func (s *store) Close(ctx context.Context) error {
	if s.LeaseStore == nil {
		return nil
	}
	return s.LeaseStore.Close(ctx)
}

// Heartbeat and Finish tell a fenced holder that all is well when the fault is to fence
// nobody: this process can't know the tokens that other processes won with.
func (s *store) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	results, err := s.LeaseStore.Heartbeat(ctx, heartbeats)
	for i := range results {
		if s.fault == broken.FencesNobody && results[i].Verdict == pluginapi.Lost {
			results[i] = pluginapi.HeartbeatResult{Verdict: pluginapi.Won, LeaseLeft: heartbeats[i].Lease}
		}
	}
	return results, err
}

func (s *store) Finish(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	results, err := s.LeaseStore.Finish(ctx, finishes)
	for i := range results {
		if s.fault == broken.FencesNobody && results[i].Verdict == pluginapi.Lost {
			results[i] = pluginapi.FinishResult{Verdict: pluginapi.Done}
		}
	}
	return results, err
}
