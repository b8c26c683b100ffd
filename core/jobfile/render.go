package jobfile

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Style says what the reader's terminal can show. The zero value is plain ASCII.
type Style struct {
	// Colour allows ANSI colours.
	Colour bool
	// Unicode allows characters beyond ASCII in the frame; what the file holds is shown as it is.
	Unicode bool
}

// Render writes each diagnostic with its source line and carets under what is meant, an empty
// line between two of them. It returns the writer's error.
func (ds Diagnostics) Render(w io.Writer, style Style) error {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		d.render(&b, style)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Diagnostic) render(b *strings.Builder, style Style) {
	colour := "31" // red
	if d.Severity == Warning {
		colour = "33" // yellow
	}
	fmt.Fprintf(b, "%s: %s\n", style.paint("1;"+colour, string(d.Severity)+" "+string(d.Code)), style.paint("1", d.Summary))
	d.renderPlace(b, style)
	if d.snippet.line != "" {
		bar := "|"
		if style.Unicode {
			bar = "│"
		}
		number := strconv.Itoa(d.Line)
		blank := strings.Repeat(" ", len(number))
		fmt.Fprintf(b, "    %s %s %s\n", style.paint("2", number), style.paint("2", bar), d.snippet.line)
		fmt.Fprintf(b, "    %s %s %s%s\n", blank, style.paint("2", bar), d.snippet.indent(),
			style.paint(colour, strings.Repeat("^", d.snippet.len)))
	}
	if d.Fix != "" {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(d.Fix, "\n", "\n  "))
	}
}

func (d Diagnostic) renderPlace(b *strings.Builder, style Style) {
	if d.File == "" {
		return
	}
	fmt.Fprintf(b, "  %s", style.paint("36", d.position()))
	switch {
	case d.Job != "":
		fmt.Fprintf(b, ", in job %q", d.Job)
	case d.Store != "":
		fmt.Fprintf(b, ", in store %q", d.Store)
	}
	b.WriteByte('\n')
}

// indent returns what stands before the carets: tabs stay, so that they line up.
func (s snippet) indent() string {
	var b strings.Builder
	n := 0
	for _, r := range s.line {
		if n == s.start {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	for ; n < s.start; n++ {
		b.WriteByte(' ')
	}
	return b.String()
}

func (s Style) paint(code, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
