package jobfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity tells a problem from a warning.
type Severity string

// The severities.
const (
	// Error stops the configuration from being used.
	Error Severity = "error"
	// Warning doesn't.
	Warning Severity = "warning"
)

// Diagnostic is one thing that is wrong with a configuration, and where.
type Diagnostic struct {
	// Severity tells a problem from a warning.
	Severity Severity `json:"severity"`
	// Code is stable and for machines: one of this package's, or the plugin's own.
	Code Code `json:"code"`
	// Summary says in a line what was found and what is allowed.
	Summary string `json:"summary"`
	// Fix says why, and the way out; may be empty.
	Fix string `json:"fix,omitempty"`
	// File is the path as it was read; empty when no file is to blame.
	File string `json:"file,omitempty"`
	// Line and Column count from 1, the column in characters; 0 means the file as a whole.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// EndColumn is the column after the last character meant, on the same line.
	EndColumn int `json:"end_column,omitempty"`
	// Job is the job that the place belongs to, if any.
	Job string `json:"job,omitempty"`
	// Store is the store block that the place belongs to, if any.
	Store string `json:"store,omitempty"`

	snippet snippet // what the renderer shows of the file
}

// String returns the diagnostic on one line, starting with file:line:column.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.position() + ": ")
	}
	fmt.Fprintf(&b, "%s %s: %s", d.Severity, d.Code, d.Summary)
	if d.Fix != "" {
		b.WriteString(" (" + d.Fix + ")")
	}
	return b.String()
}

// position returns file:line:column, or the file alone.
func (d Diagnostic) position() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
}

// Diagnostics are the things that are wrong with a configuration, ordered by file and place.
type Diagnostics []Diagnostic

// HasErrors tells whether one of them is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// String returns all diagnostics, one on a line.
func (ds Diagnostics) String() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// maxDiagnostics bounds what a hostile file can make us keep. Nobody reads more.
const maxDiagnostics = 1000

// report gathers diagnostics.
type report struct {
	found   Diagnostics
	dropped int
}

// full tells whether there is no room for one more problem, which then is only counted. Who
// has to work for a good message asks first.
func (r *report) full() bool {
	if len(r.found) < maxDiagnostics {
		return false
	}
	r.dropped++
	return true
}

// add keeps d, which lies at p. The line is shown unless it may hold a secret.
func (r *report) add(p place, d Diagnostic) {
	if r.full() {
		return
	}
	if d.Severity == "" {
		d.Severity = Error
	}
	p.locate(&d)
	r.found = append(r.found, d)
}

// diagnostics returns what was found, in order.
func (r *report) diagnostics() Diagnostics {
	slices.SortStableFunc(r.found, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Summary, b.Summary))
	})
	if r.dropped > 0 {
		r.found = append(r.found, Diagnostic{
			Severity: Error,
			Code:     TooMany,
			Summary:  fmt.Sprintf("%d more problems aren't shown", r.dropped),
			Fix:      "Mend the first ones and check again.",
		})
		r.dropped = 0
	}
	return r.found
}
