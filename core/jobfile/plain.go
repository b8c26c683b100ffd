package jobfile

import (
	"bytes"
	"strings"
)

// plain tells whether a file is so simple that it surely nests no deeper than guard allows,
// and whether a defaults block stands at its top level. Most files are: they have no
// templates, escapes, heredocs or block comments, so that texts begin and end on their line,
// and brackets can be counted without the scanner, which takes as long as the parser does.
// What isn't plain isn't wrong: guard looks at it properly. In doubt nothing is plain.
func plain(text []byte) (safe, hasDefaults bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for _, special := range []string{"${", "%{", "<<", "/*", `\`, "'", "`"} {
		if bytes.Contains(text, []byte(special)) {
			return false, false
		}
	}
	s := plainScanner{}
	for line := range bytes.Lines(text) {
		head, _, block := bytes.Cut(line, []byte("{"))
		if len(s.open) == 0 && block && string(bytes.TrimSpace(head)) == "defaults" {
			hasDefaults = true
		}
		if !s.line(bytes.TrimRight(line, "\r\n")) {
			return false, false
		}
	}
	return true, hasDefaults
}

// plainScanner counts brackets and operators over the lines of a file.
type plainScanner struct {
	open  []byte // the brackets that are open
	wide  int    // how many of them are round or square: an expression goes on after a newline
	chain int    // operators since where an expression surely began
}

// line takes the next line; false means that the file isn't plain.
func (s *plainScanner) line(line []byte) bool {
	if s.wide == 0 {
		s.chain = 0
	}
	line, ok := withoutTexts(line)
	if !ok {
		return false
	}
	closed := false
	for _, c := range line {
		// Behind a brace that closes, an expression that began lines ago could go on.
		if closed && !strings.ContainsRune(" \t,}])", rune(c)) {
			return false
		}
		switch c {
		case '{', '[', '(':
			s.chain++
			s.open = append(s.open, c)
			if c != '{' {
				s.wide++
			}
		case '}', ']', ')':
			if !s.closes(c) {
				return false
			}
			closed = closed || c == '}'
		case '-', '!', '+', '*', '/', '%', '&', '|', '=', '<', '>', '?', ':', '.':
			s.chain++
		}
		if s.chain > maxChain || len(s.open) > maxDepth {
			return false
		}
	}
	return true
}

// closes takes a closing bracket, and tells whether it fits the last one opened.
func (s *plainScanner) closes(c byte) bool {
	if len(s.open) == 0 {
		return false
	}
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if last != '{' {
		s.wide--
	}
	return last == '{' && c == '}' || last == '[' && c == ']' || last == '(' && c == ')'
}

// withoutTexts returns the line without its quoted texts and its comment; false means that a
// text isn't closed, or that a number isn't a short row of digits.
func withoutTexts(line []byte) ([]byte, bool) {
	rest := make([]byte, 0, 64)
	inText, digits, parts := false, 0, 0
	for i, c := range line {
		switch {
		case c == '"':
			inText = !inText
			continue
		case inText:
			// The scanner cuts a text at each of these.
			if c == '$' || c == '%' {
				parts++
			}
			if parts > maxChain {
				return nil, false
			}
			continue
		case c == '#' || c == '/' && i+1 < len(line) && line[i+1] == '/':
			return rest, true
		case c >= '0' && c <= '9':
			digits++
		case c == '\r' || digits > 0 && (c == 'e' || c == 'E'):
			return nil, false
		default:
			digits = 0
		}
		if digits > maxNumber {
			return nil, false
		}
		rest = append(rest, c)
	}
	return rest, !inText
}
