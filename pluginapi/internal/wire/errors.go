package wire

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

const (
	maxDiagnostics = 100
	maxSteps       = 32
)

// code is a pluginapi.Code in its two forms on the wire. The gRPC code is for tools that know
// nothing of ours; only the detail is read back.
type code struct {
	proto pluginpb.ErrorCode
	grpc  codes.Code
}

func codeOf(c pluginapi.Code) code {
	switch c {
	case pluginapi.Invalid:
		return code{pluginpb.ErrorCode_ERROR_CODE_INVALID, codes.InvalidArgument}
	case pluginapi.Unsupported:
		return code{pluginpb.ErrorCode_ERROR_CODE_UNSUPPORTED, codes.FailedPrecondition}
	case pluginapi.Conflict:
		return code{pluginpb.ErrorCode_ERROR_CODE_CONFLICT, codes.AlreadyExists}
	case pluginapi.Capacity:
		return code{pluginpb.ErrorCode_ERROR_CODE_CAPACITY, codes.ResourceExhausted}
	case pluginapi.Unavailable:
		return code{pluginpb.ErrorCode_ERROR_CODE_UNAVAILABLE, codes.Unavailable}
	case pluginapi.Ambiguous:
		return code{pluginpb.ErrorCode_ERROR_CODE_AMBIGUOUS, codes.Unknown}
	default:
		return code{pluginpb.ErrorCode_ERROR_CODE_INTERNAL, codes.Internal}
	}
}

func fromCode(c pluginpb.ErrorCode) pluginapi.Code {
	switch c {
	case pluginpb.ErrorCode_ERROR_CODE_INVALID:
		return pluginapi.Invalid
	case pluginpb.ErrorCode_ERROR_CODE_UNSUPPORTED:
		return pluginapi.Unsupported
	case pluginpb.ErrorCode_ERROR_CODE_CONFLICT:
		return pluginapi.Conflict
	case pluginpb.ErrorCode_ERROR_CODE_CAPACITY:
		return pluginapi.Capacity
	case pluginpb.ErrorCode_ERROR_CODE_UNAVAILABLE:
		return pluginapi.Unavailable
	case pluginpb.ErrorCode_ERROR_CODE_AMBIGUOUS:
		return pluginapi.Ambiguous
	default:
		return pluginapi.Internal
	}
}

// ToError returns e in its protobuf form, nil for nil. The cause's text becomes part of the
// message, as a cause can't travel.
func ToError(e *pluginapi.Error) *pluginpb.Error {
	if e == nil {
		return nil
	}
	msg := e.Msg
	if e.Err != nil {
		if cause := e.Err.Error(); msg == "" {
			msg = cause
		} else if !strings.Contains(msg, cause) {
			msg += ": " + cause
		}
	}
	return &pluginpb.Error{
		Code:        codeOf(e.Code).proto,
		Op:          text(e.Op),
		Message:     text(msg),
		Diagnostics: each(e.Diagnostics, ToDiagnostic),
	}
}

// FromError is the inverse of [ToError]; a code it doesn't know is Internal.
func FromError(e *pluginpb.Error) *pluginapi.Error {
	if e == nil {
		return nil
	}
	return &pluginapi.Error{
		Code:        fromCode(e.GetCode()),
		Op:          clip(e.GetOp(), 128),
		Msg:         clip(e.GetMessage(), maxText),
		Diagnostics: fromDiagnostics(e.GetDiagnostics()),
	}
}

// ToStatus returns err, of a call named op, as the error of a gRPC handler; nil for nil.
func ToStatus(op string, err error) error {
	e := pluginapi.AsError(op, err)
	if e == nil {
		return nil
	}
	plain := status.New(codeOf(e.Code).grpc, text(e.Error()))
	if detailed, err := plain.WithDetails(ToError(e)); err == nil {
		return detailed.Err()
	}
	return plain.Err()
}

// FromStatus returns the error of a gRPC call named op as the core may act on it; nil for nil.
// Only the plugin's own words, in the detail, can say that nothing was executed. All else
// comes from the transport, which doesn't know: Ambiguous.
func FromStatus(op string, err error) *pluginapi.Error {
	if err == nil {
		return nil
	}
	s, _ := status.FromError(err)
	for _, detail := range s.Details() {
		if e, ok := detail.(*pluginpb.Error); ok {
			return FromError(e)
		}
	}
	msg := clip(s.Message(), maxText)
	switch s.Code() {
	case codes.Unimplemented: // the plugin has no such call, so nothing was executed
		return &pluginapi.Error{Code: pluginapi.Unsupported, Op: op, Msg: "the plugin doesn't know this call: " + msg}
	case codes.Canceled:
		return &pluginapi.Error{Code: pluginapi.Ambiguous, Op: op, Msg: "given up before the plugin answered", Err: err}
	case codes.DeadlineExceeded:
		return &pluginapi.Error{Code: pluginapi.Ambiguous, Op: op, Msg: "the plugin didn't answer in time", Err: err}
	default:
		return &pluginapi.Error{Code: pluginapi.Ambiguous, Op: op, Msg: "no answer from the plugin: " + msg, Err: err}
	}
}

// ToDiagnostic returns d in its protobuf form.
func ToDiagnostic(d pluginapi.Diagnostic) *pluginpb.Diagnostic {
	severity := pluginpb.Severity_SEVERITY_ERROR
	if d.Severity == pluginapi.SeverityWarning {
		severity = pluginpb.Severity_SEVERITY_WARNING
	}
	return &pluginpb.Diagnostic{
		Severity: severity,
		Code:     text(d.Code),
		Summary:  text(d.Summary),
		Detail:   text(d.Detail),
		Path: each(d.Path, func(s pluginapi.Step) *pluginpb.Step {
			return &pluginpb.Step{Name: text(s.Name), Index: int32Of(s.Index)}
		}),
	}
}

func fromDiagnostics(in []*pluginpb.Diagnostic) []pluginapi.Diagnostic {
	return each(in[:min(len(in), maxDiagnostics)], func(d *pluginpb.Diagnostic) pluginapi.Diagnostic {
		severity := pluginapi.SeverityError
		if d.GetSeverity() == pluginpb.Severity_SEVERITY_WARNING {
			severity = pluginapi.SeverityWarning
		}
		path := d.GetPath()
		return pluginapi.Diagnostic{
			Severity: severity,
			Code:     clip(d.GetCode(), 128),
			Summary:  clip(d.GetSummary(), maxText),
			Detail:   clip(d.GetDetail(), maxText),
			Path: each(path[:min(len(path), maxSteps)], func(s *pluginpb.Step) pluginapi.Step {
				return pluginapi.Step{Name: clip(s.GetName(), 128), Index: int(max(s.GetIndex(), 0))}
			}),
		}
	})
}
