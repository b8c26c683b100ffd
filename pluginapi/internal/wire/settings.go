package wire

import (
	"log/slog"
	"math"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

// The most that a plugin's limits may ask for: more would only fill memory.
const (
	maxBatch    = 4096
	maxInFlight = 256
)

// ToSchema returns s in its protobuf form.
func ToSchema(s pluginapi.Schema) *pluginpb.Schema {
	return &pluginpb.Schema{
		Attributes: each(s.Attributes, func(a pluginapi.Attribute) *pluginpb.Attribute {
			return &pluginpb.Attribute{
				Name:        text(a.Name),
				Type:        text(string(a.Type)),
				Format:      pluginpb.Format(int32Of(int(a.Format))), // same numbers: see the test of all formats
				Required:    a.Required,
				Sensitive:   a.Sensitive,
				DefaultJson: a.Default,
				OneOf:       each(a.OneOf, text),
				Description: text(a.Description),
				Example:     text(a.Example),
			}
		}),
		Blocks: each(s.Blocks, func(b pluginapi.Block) *pluginpb.Block {
			return &pluginpb.Block{
				Name:        text(b.Name),
				Nesting:     pluginpb.Nesting(int32Of(int(b.Nesting))),
				Description: text(b.Description),
				Schema:      ToSchema(b.Schema),
			}
		}),
	}
}

// FromSchema is the inverse of [ToSchema]. The schema still has to be checked.
func FromSchema(s *pluginpb.Schema) pluginapi.Schema {
	return pluginapi.Schema{
		Attributes: each(s.GetAttributes(), func(a *pluginpb.Attribute) pluginapi.Attribute {
			format := pluginapi.AnyText
			if _, known := pluginpb.Format_name[int32(a.GetFormat())]; known {
				format = pluginapi.Format(a.GetFormat())
			}
			return pluginapi.Attribute{
				Name:        a.GetName(),
				Type:        pluginapi.Type(a.GetType()),
				Format:      format,
				Required:    a.GetRequired(),
				Sensitive:   a.GetSensitive(),
				Default:     a.GetDefaultJson(),
				OneOf:       a.GetOneOf(),
				Description: a.GetDescription(),
				Example:     a.GetExample(),
			}
		}),
		Blocks: each(s.GetBlocks(), func(b *pluginpb.Block) pluginapi.Block {
			nesting := pluginapi.NestSingle
			if _, known := pluginpb.Nesting_name[int32(b.GetNesting())]; known {
				nesting = pluginapi.Nesting(b.GetNesting())
			}
			return pluginapi.Block{
				Name:        b.GetName(),
				Nesting:     nesting,
				Description: b.GetDescription(),
				Schema:      FromSchema(b.GetSchema()),
			}
		}),
	}
}

// ToConfig returns c in its protobuf form.
func ToConfig(c pluginapi.Config) *pluginpb.Config {
	return &pluginpb.Config{SettingsJson: c.Settings, Instance: text(c.Instance)}
}

// FromConfig is the inverse of [ToConfig].
func FromConfig(c *pluginpb.Config) pluginapi.Config {
	return pluginapi.Config{Settings: c.GetSettingsJson(), Instance: c.GetInstance()}
}

// ToInfo returns i in its protobuf form.
func ToInfo(i pluginapi.Info) *pluginpb.Info {
	kind := pluginpb.Kind_KIND_UNSPECIFIED
	switch i.Kind {
	case pluginapi.Gate:
		kind = pluginpb.Kind_KIND_GATE
	case pluginapi.Lease:
		kind = pluginpb.Kind_KIND_LEASE
	}
	return &pluginpb.Info{
		Strategy:   text(i.Strategy),
		Kind:       kind,
		Memory:     &pluginpb.Memory{WindowMs: awayFromZero(i.Memory.Window), MaxRuns: int64(i.Memory.MaxRuns)},
		Limits:     &pluginpb.Limits{MaxBatch: int32Of(i.Limits.MaxBatch), MaxInFlight: int32Of(i.Limits.MaxInFlight)},
		HasHistory: i.HasHistory,
		Guarantee:  text(i.Guarantee),
		Warnings:   each(i.Warnings, ToDiagnostic),
	}
}

// FromInfo is the inverse of [ToInfo]. Without a kind, or with a memory or a limit below
// zero, it is an Internal error: the core's rules at load couldn't be trusted.
func FromInfo(op string, i *pluginpb.Info) (pluginapi.Info, error) {
	kinds := map[pluginpb.Kind]pluginapi.Kind{
		pluginpb.Kind_KIND_GATE:  pluginapi.Gate,
		pluginpb.Kind_KIND_LEASE: pluginapi.Lease,
	}
	kind, memory, limits := kinds[i.GetKind()], i.GetMemory(), i.GetLimits()
	switch {
	case kind == 0:
		return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered kind %d, which is neither gate nor lease", i.GetKind())
	case memory.GetWindowMs() < 0 || memory.GetMaxRuns() < 0:
		return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered a memory of %d ms and %d runs",
			memory.GetWindowMs(), memory.GetMaxRuns())
	case limits.GetMaxBatch() < 0 || limits.GetMaxInFlight() < 0:
		return pluginapi.Info{}, pluginapi.Errorf(pluginapi.Internal, op, "the plugin answered limits of %d items and %d batches",
			limits.GetMaxBatch(), limits.GetMaxInFlight())
	}
	return pluginapi.Info{
		Strategy: clip(i.GetStrategy(), 128),
		Kind:     kind,
		Memory:   pluginapi.Memory{Window: duration(memory.GetWindowMs()), MaxRuns: int(memory.GetMaxRuns())},
		Limits: pluginapi.Limits{
			MaxBatch:    min(int(limits.GetMaxBatch()), maxBatch),
			MaxInFlight: min(int(limits.GetMaxInFlight()), maxInFlight),
		},
		HasHistory: i.GetHasHistory(),
		Guarantee:  clip(i.GetGuarantee(), maxText),
		Warnings:   fromDiagnostics(i.GetWarnings()),
	}, nil
}

// ToHealth returns h in its protobuf form.
func ToHealth(h pluginapi.Health) *pluginpb.HealthResponse {
	return &pluginpb.HealthResponse{
		Detail:      text(h.Detail),
		RoundTripUs: h.RoundTrip.Microseconds(),
		StoreTimeMs: millis(h.StoreTime),
	}
}

// FromHealth is the inverse of [ToHealth].
func FromHealth(h *pluginpb.HealthResponse) pluginapi.Health {
	micros := min(max(h.GetRoundTripUs(), 0), math.MaxInt64/int64(time.Microsecond))
	return pluginapi.Health{
		Detail:    clip(h.GetDetail(), maxText),
		RoundTrip: time.Duration(micros) * time.Microsecond,
		StoreTime: reading(h.GetStoreTimeMs()),
	}
}

// ToLevel returns the level that is as severe as l, or the next more severe one.
func ToLevel(l slog.Level) pluginpb.LogLevel {
	switch {
	case l <= slog.LevelDebug:
		return pluginpb.LogLevel_LOG_LEVEL_DEBUG
	case l <= slog.LevelInfo:
		return pluginpb.LogLevel_LOG_LEVEL_INFO
	case l <= slog.LevelWarn:
		return pluginpb.LogLevel_LOG_LEVEL_WARN
	default:
		return pluginpb.LogLevel_LOG_LEVEL_ERROR
	}
}

// FromLevel is the inverse of [ToLevel].
func FromLevel(l pluginpb.LogLevel) slog.Level {
	switch l {
	case pluginpb.LogLevel_LOG_LEVEL_DEBUG:
		return slog.LevelDebug
	case pluginpb.LogLevel_LOG_LEVEL_WARN:
		return slog.LevelWarn
	case pluginpb.LogLevel_LOG_LEVEL_ERROR:
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
