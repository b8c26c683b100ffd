package pluginapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code says what the receiver of an error may do.
type Code int

const (
	// Internal is a fault of the store: report it; don't retry. The zero value, so that an
	// error nobody classified is never taken for one that may be retried.
	Internal Code = iota
	// Invalid is a wrong request or wrong settings: fix them; don't retry.
	Invalid
	// Unsupported is a request that this store, or this backend, can't serve: don't retry.
	Unsupported
	// Conflict contradicts what the same token already did: don't retry; nothing was changed.
	Conflict
	// Capacity means certainly not executed, because something is full: retry later.
	Capacity
	// Unavailable means certainly not executed: retry later. Only who knows that may say it.
	Unavailable
	// Ambiguous means that it may have been executed, now or soon: send the same request with
	// the same token again until there is an answer.
	Ambiguous
)

// String returns the code's name.
func (c Code) String() string {
	switch c {
	case Invalid:
		return "invalid"
	case Unsupported:
		return "unsupported"
	case Conflict:
		return "conflict"
	case Capacity:
		return "capacity"
	case Unavailable:
		return "unavailable"
	case Ambiguous:
		return "ambiguous"
	default:
		return "internal"
	}
}

// Error is the only kind of error that crosses the plugin boundary.
type Error struct {
	// Code says what the receiver may do.
	Code Code
	// Op is what was being done, as "claim" or "open database"; may be empty.
	Op string
	// Msg names the thing, what was found, what is allowed and the way out. It must hold no
	// secret: no password, no token, no address with credentials.
	Msg string
	// Diagnostics are the problems found in settings, for Configure and Validate.
	Diagnostics []Diagnostic
	// Err is the cause; it doesn't cross the boundary, its text becomes part of Msg there.
	Err error
}

// Errorf returns an error of the given code. As with fmt.Errorf, %w keeps a cause.
func Errorf(code Code, op, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Op: op, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// Error returns the operation, the message and the problems found, as one text.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	switch {
	case e.Msg != "":
		b.WriteString(e.Msg)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	case len(e.Diagnostics) == 0:
		b.WriteString(e.Code.String())
	}
	for i, d := range e.Diagnostics {
		if i > 0 || e.Msg != "" || e.Err != nil {
			b.WriteString("; ")
		}
		b.WriteString(d.String())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns err as an *Error; nil for nil. A context's end and every error that nobody
// classified become Ambiguous: nothing is known about what was executed.
func AsError(op string, err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Code: Ambiguous, Op: op, Msg: "the caller gave up before there was an answer", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Ambiguous, Op: op, Msg: "no answer in time", Err: err}
	default:
		return &Error{Code: Ambiguous, Op: op, Msg: err.Error(), Err: err}
	}
}

// CodeOf returns the code of err: that of the *Error in its chain, Ambiguous for any other
// error. It must not be called with nil.
func CodeOf(err error) Code { return AsError("", err).Code }

// Severity tells a problem from a warning.
type Severity int

const (
	// SeverityError stops the configuration from being used.
	SeverityError Severity = iota
	// SeverityWarning doesn't.
	SeverityWarning
)

// Diagnostic is one problem with a store's settings or backend.
type Diagnostic struct {
	// Severity tells a problem from a warning.
	Severity Severity
	// Code is stable and for machines, as "redis.tls.ca_missing"; may be empty.
	Code string
	// Summary says what is wrong in one line: what was found and what is allowed.
	Summary string
	// Detail says more: why, and the way out. May be empty.
	Detail string
	// Path leads to the attribute; empty for the whole store block.
	Path []Step
}

// Step is one step of a path into the settings: an attribute or block by name, or an element
// of a list by index when Name is empty.
type Step struct {
	// Name is the attribute's, block's or map key's name.
	Name string
	// Index is the element of a list, from 0, when Name is empty.
	Index int
}

// Attr returns the path of names, as Attr("tls", "ca_file").
func Attr(names ...string) []Step {
	path := make([]Step, len(names))
	for i, name := range names {
		path[i].Name = name
	}
	return path
}

// String returns the path and the text, as "tls.ca_file: no such file".
func (d Diagnostic) String() string {
	var b strings.Builder
	for i, s := range d.Path {
		switch {
		case s.Name == "":
			fmt.Fprintf(&b, "[%d]", s.Index)
		case i > 0:
			b.WriteString("." + s.Name)
		default:
			b.WriteString(s.Name)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(d.Summary)
	if d.Detail != "" {
		b.WriteString(" (" + d.Detail + ")")
	}
	return b.String()
}
