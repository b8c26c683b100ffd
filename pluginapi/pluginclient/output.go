package pluginclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	maxLine      = 64 << 10 // bytes of a line; the rest of a longer one is dropped
	maxFields    = 32       // attributes of a log line
	maxValue     = 4 << 10  // bytes of one of them
	linesASecond = 200      // and as many at once
	recentLines  = 40       // kept for Err
)

// output passes what a plugin writes to the log, and keeps the end of it. It never waits: a
// full pipe would stall the plugin.
type output struct {
	log *slog.Logger

	mu      sync.Mutex // guards all below
	recent  []string   // of standard error; from the start of a crash report on, its first lines
	crashed bool
	tokens  float64 // lines that may be written now
	filled  time.Time
	dropped int
}

func newOutput(log *slog.Logger) *output {
	return &output{log: log, tokens: linesASecond, filled: time.Now()}
}

// eachLine calls f with each line of r, cut to maxLine bytes, until r ends.
func eachLine(r io.Reader, f func(line string)) {
	reader := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := reader.ReadSlice('\n')
		if len(line) > 0 {
			f(string(bytes.TrimRight(line, "\r\n")))
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a line that is too long
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

// noise logs a line that came where none should.
func (o *output) noise(ctx context.Context, where, line string) {
	if o.allow(ctx) {
		o.log.LogAttrs(ctx, slog.LevelInfo, "plugin wrote text", slog.String("source", where), slog.String("text", plain(line)))
	}
}

// stderr logs a line of standard error: a log line of ours, a crash report, or any text.
func (o *output) stderr(ctx context.Context, line string) {
	crashed := o.keep(line)
	if !o.allow(ctx) {
		return
	}
	if record, ok := parse(line); ok {
		if o.log.Enabled(ctx, record.Level) {
			_ = o.log.Handler().Handle(ctx, record) // nobody could be told
		}
		return
	}
	level := slog.LevelInfo
	if crashed {
		level = slog.LevelError
	}
	o.log.LogAttrs(ctx, level, "plugin wrote text", slog.String("source", "stderr"), slog.String("text", plain(line)))
}

// keep remembers the line, and tells whether it is part of a crash report.
func (o *output) keep(line string) (crashed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.crashed && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		o.crashed, o.recent = true, nil
	}
	if len(o.recent) == recentLines && !o.crashed {
		o.recent = o.recent[1:]
	}
	if len(o.recent) < recentLines {
		o.recent = append(o.recent, plain(cut(line)))
	}
	return o.crashed
}

// last returns the line that tells most: the crash's first, else the last one.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.recent) == 0:
		return ""
	case o.crashed:
		return o.recent[0]
	}
	line := o.recent[len(o.recent)-1]
	record, ok := parse(line)
	if !ok {
		return line
	}
	text := record.Message
	record.Attrs(func(fields slog.Attr) bool {
		text += " " + fields.Value.String()
		return true
	})
	return text
}

// end returns the kept lines.
func (o *output) end() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.recent)
}

func (o *output) hasCrashed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.crashed
}

// allow takes a token from the bucket. Lines that found none are counted and told later.
func (o *output) allow(ctx context.Context) bool {
	o.mu.Lock()
	now := time.Now()
	o.tokens = min(linesASecond, o.tokens+now.Sub(o.filled).Seconds()*linesASecond)
	o.filled = now
	if o.tokens < 1 {
		o.dropped++
		o.mu.Unlock()
		return false
	}
	o.tokens--
	o.mu.Unlock()
	o.tellDropped(ctx)
	return true
}

// tellDropped logs how many lines were dropped since the last time.
func (o *output) tellDropped(ctx context.Context) {
	o.mu.Lock()
	dropped := o.dropped
	o.dropped = 0
	o.mu.Unlock()
	if dropped > 0 {
		o.log.LogAttrs(ctx, slog.LevelWarn, "plugin log lines dropped",
			slog.Int("lines", dropped), slog.Int("allowed_per_second", linesASecond))
	}
}

// parse reads a log line in go-plugin's form. The plugin's attributes become a group, so
// that they are never taken for ours.
func parse(line string) (slog.Record, bool) {
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil {
		return slog.Record{}, false
	}
	name, okLevel := fields["@level"].(string)
	msg, okMsg := fields["@message"].(string)
	if !okLevel || !okMsg {
		return slog.Record{}, false
	}
	var group []slog.Attr
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(key, "@") && len(group) < maxFields {
			group = append(group, slog.String(plain(cut(key)), plain(cut(valueText(fields[key])))))
		}
	}
	record := slog.NewRecord(time.Now(), levelOf(name), plain(cut(msg)), 0)
	if len(group) > 0 {
		record.AddAttrs(slog.GroupAttrs("fields", group...))
	}
	return record, true
}

func valueText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(b)
}

func levelOf(name string) slog.Level {
	switch strings.ToLower(name) {
	case "trace", "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}

// plain replaces what could move the cursor or forge a line.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// cut keeps the first maxValue bytes.
func cut(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "")
}

// lineWriter gives what is written to it to log, line by line. It isn't safe for concurrent
// use: go-plugin writes from one goroutine.
type lineWriter struct {
	log  func(line string)
	rest []byte // of a line without end, up to maxLine
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	for chunk := range bytes.Lines(p) {
		w.rest = append(w.rest, chunk[:min(len(chunk), maxLine-len(w.rest))]...)
		if chunk[len(chunk)-1] == '\n' {
			w.log(string(bytes.TrimRight(w.rest, "\r\n")))
			w.rest = w.rest[:0]
		}
	}
	return len(p), nil
}
