package storetest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Status is how a check ended.
type Status string

// The ways in which a check ends.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	// Skip means that the check doesn't apply to the target; [Result.Reason] says why.
	Skip Status = "skip"
)

// Result is what one check found.
type Result struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	Status      Status `json:"status"`
	// Failures say what was got and what was wanted; empty unless Status is Fail.
	Failures []string `json:"failures,omitempty"`
	// Reason says why a check was skipped, or what a check measured.
	Reason string `json:"reason,omitempty"`
	// Took is how long the check ran, in nanoseconds.
	Took time.Duration `json:"took_ns"`
}

// Report is the outcome of an execution; its JSON form is stable.
type Report struct {
	// Target is what was tested: a path, or "in process".
	Target string `json:"target"`
	// Name and Version are the binary's; empty in process.
	Name    string `json:"plugin,omitempty"`
	Version string `json:"version,omitempty"`
	// Kind and Strategy are what the store claims with its settings.
	Kind     string `json:"kind,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	// Seed repeats the execution's random choices when given in [Options.Seed].
	Seed uint64 `json:"seed"`
	// Results are the checks' results, in the order in which they ran.
	Results []Result `json:"results"`
}

// Count returns how many checks ended so.
func (r Report) Count(status Status) int {
	n := 0
	for _, result := range r.Results {
		if result.Status == status {
			n++
		}
	}
	return n
}

// OK tells whether the store conforms: no check failed and at least one passed.
func (r Report) OK() bool { return r.Count(Fail) == 0 && r.Count(Pass) > 0 }

// WriteText writes the report as TAP, the Test Anything Protocol, version 14.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(r.Results))
	known := slices.DeleteFunc([]string{r.Target, r.Name, r.Version, r.Kind, r.Strategy}, func(s string) bool { return s == "" })
	fmt.Fprintf(&b, "# %s\n", strings.Join(known, " "))
	for i, result := range r.Results {
		result.writeText(&b, i+1, r.Seed)
	}
	fmt.Fprintf(&b, "# %d passed, %d failed, %d skipped; seed %d\n", r.Count(Pass), r.Count(Fail), r.Count(Skip), r.Seed)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Result) writeText(b *strings.Builder, number int, seed uint64) {
	verdict := "ok"
	if r.Status == Fail {
		verdict = "not ok"
	}
	fmt.Fprintf(b, "%s %d - %s %s", verdict, number, r.ID, r.Name)
	switch {
	case r.Status == Skip:
		b.WriteString(" # SKIP " + r.Reason)
	case r.Reason != "":
		b.WriteString(" # " + r.Reason)
	}
	b.WriteByte('\n')
	if r.Status == Fail {
		fmt.Fprintf(b, "# required: %s\n", r.Requirement)
		for _, failure := range r.Failures {
			b.WriteString("# " + strings.ReplaceAll(failure, "\n", "\n#   ") + "\n")
		}
		fmt.Fprintf(b, "# again: only %s, seed %d\n", r.ID, seed)
	}
}
