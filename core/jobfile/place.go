package jobfile

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// source is one configuration file in memory.
type source struct {
	name    string // the path, as it is shown
	text    []byte
	lines   []int // where lines start; made when first needed
	partial bool  // the file has syntax errors: what seems to be missing may be there
}

// at returns the place of r in the file.
func (s *source) at(r hcl.Range) place { return place{s, uint32(r.Start.Byte), uint32(r.End.Byte)} }

// whole returns the file as a place without a line.
func (s *source) whole() place { return place{src: s} }

// line returns the number of the line that holds offset, from 1, and its text.
func (s *source) line(offset int) (number, start int, text []byte) {
	if s.lines == nil {
		s.lines = []int{0}
		for i, c := range s.text {
			if c == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	}
	n, exact := slices.BinarySearch(s.lines, offset)
	if exact {
		n++
	}
	start = s.lines[n-1]
	text, _, _ = bytes.Cut(s.text[start:], []byte("\n"))
	return n, start, bytes.TrimSuffix(text, []byte("\r"))
}

// place is a range of bytes in a file; at most 1 MiB in, so that 32 bits are plenty. The zero
// value is no place; one that is empty at 0 means the file as a whole.
type place struct {
	src        *source
	start, end uint32
}

// String returns file:line:column, for messages that name a second place.
func (p place) String() string {
	var d Diagnostic
	p.locate(&d)
	return d.position()
}

// cut returns the bytes from offset on, counted from p's start, length bytes long; at least one.
func (p place) cut(offset, length int) place {
	start := uint32(max(0, int(p.start)+offset))
	return place{p.src, start, start + uint32(max(length, 1))}
}

// snippet is what the renderer shows of a file.
type snippet struct {
	line   string // made safe to print; empty: nothing is shown
	start  int    // where the carets start, in characters
	len    int    // how many carets
	hidden bool   // nothing may be shown
}

// maxSnippet is how many bytes of a line are shown at most.
const maxSnippet = 120

// locate writes p into d.
func (p place) locate(d *Diagnostic) {
	if p.src == nil {
		return
	}
	d.File = p.src.name
	if p.start == 0 && p.end == 0 {
		return
	}
	start := min(int(p.start), len(p.src.text))
	number, lineStart, text := p.src.line(start)
	before := text[:min(start-lineStart, len(text))]
	rest := text[len(before):]
	meant := rest[:max(0, min(int(p.end)-start, len(rest)))]
	d.Line = number
	d.Column = 1 + utf8.RuneCount(before)
	d.EndColumn = d.Column + max(1, utf8.RuneCount(meant))
	if !d.snippet.hidden && !looksSecret(text) {
		d.snippet = cutSnippet(before, rest, d.EndColumn-d.Column)
	}
}

// looksSecret tells whether the line sets something that should not be shown on a terminal or
// in a log. Before the plugin has been asked nobody knows what is sensitive, and a syntax
// error can be anywhere.
func looksSecret(line []byte) bool {
	name, _, found := bytes.Cut(bytes.ToLower(line[:min(len(line), maxSnippet)]), []byte("="))
	if !found {
		return false
	}
	for _, word := range []string{"passw", "secret", "token", "credential", "dsn", "private", "api_key", "apikey"} {
		if bytes.Contains(name, []byte(word)) {
			return true
		}
	}
	return false
}

// cutSnippet returns the part of a line around the place between before and rest, safe to
// print. It looks at no more than it shows: lines may be as long as a file.
func cutSnippet(before, rest []byte, length int) snippet {
	if len(before)+len(rest) > maxSnippet {
		before = before[max(0, len(before)-maxSnippet/2):]
		for len(before) > 0 && !utf8.RuneStart(before[0]) {
			before = before[1:]
		}
		rest = rest[:min(len(rest), maxSnippet-len(before))]
	}
	s := snippet{line: printable(before) + printable(rest), start: utf8.RuneCount(before)}
	s.len = max(1, min(length, utf8.RuneCount(rest)))
	return s
}

// printable returns text with each character that can't be shown replaced by one that can.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, string(text))
}
