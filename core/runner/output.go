package runner

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode"
)

// How much of the output is kept: the beginning usually says what was started, the end why it
// failed.
const (
	keepHead = 64 << 10
	keepTail = 192 << 10
)

// Output is what a command wrote, as far as it is kept.
type Output struct {
	// Head is the beginning, at most 64 KiB.
	Head []byte
	// Dropped is how many bytes were between Head and Tail.
	Dropped int64
	// Tail is the end of what didn't fit into Head, at most 192 KiB.
	Tail []byte
}

// capture keeps the beginning and the end of what is written to it, in constant memory.
type capture struct {
	also  io.Writer // gets everything, too; nil for nobody
	head  []byte
	ring  []byte // the last keepTail bytes after head; its oldest byte is at next once full
	next  int
	total int64 // bytes after head
}

var _ io.Writer = (*capture)(nil)

// Write never fails, whatever the other writer does.
func (c *capture) Write(p []byte) (int, error) {
	if c.also != nil {
		_, _ = c.also.Write(p)
	}
	n := len(p)
	if room := keepHead - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	c.total += int64(len(p))
	if len(p) > keepTail {
		p = p[len(p)-keepTail:]
	}
	for len(p) > 0 {
		if len(c.ring) < keepTail {
			take := min(keepTail-len(c.ring), len(p))
			c.ring = append(c.ring, p[:take]...)
			p = p[take:]
			continue
		}
		take := copy(c.ring[c.next:], p)
		c.next = (c.next + take) % keepTail
		p = p[take:]
	}
	return n, nil
}

func (c *capture) output() Output {
	tail := make([]byte, 0, len(c.ring))
	tail = append(append(tail, c.ring[c.next:]...), c.ring[:c.next]...)
	return Output{Head: c.head, Dropped: c.total - int64(len(tail)), Tail: tail}
}

// maxLine is how much of the last line is told.
const maxLine = 300

// lastLine returns the last line that isn't blank, cut, for a person to read why a command
// failed. The values of env, and each line of those with many, are masked in it before it is
// cut: they may be secrets.
func (o Output) lastLine(env map[string]string) string {
	end := o.Tail
	if len(end) == 0 {
		end = o.Head
	}
	text := strings.TrimRightFunc(strings.ToValidUTF8(string(end), "\uFFFD"), unicode.IsSpace)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	for _, secret := range secretLines(env) {
		line = strings.ReplaceAll(line, secret, "***")
	}
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}

// shortestSecret is the length from which a value is masked: shorter ones stand in any text.
const shortestSecret = 4

// secretLines returns the lines of all values, longest first: else one that is part of another
// would leave the rest of it readable.
func secretLines(env map[string]string) []string {
	var all []string
	for _, value := range env {
		for line := range strings.SplitSeq(value, "\n") {
			if line = strings.TrimSpace(line); len(line) >= shortestSecret {
				all = append(all, line)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return all
}
