package jobfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// The limits on what is read. They are far beyond what people write, and bound what a hostile
// or wrong path can cost.
const (
	// MaxFile is the most bytes of one file.
	MaxFile = 1 << 20
	// MaxFiles is the most files of one configuration.
	MaxFiles = 10_000
	// MaxTotal is the most bytes of all files of one configuration.
	MaxTotal = 256 << 20
)

// read returns the files of the configuration at path, in the order of their names.
func (l *loader) read(path string) []*source {
	info, err := os.Stat(path)
	if err != nil {
		l.unreadable(path, "can't be read: "+reason(err), "Check the path and its permissions.")
		return nil
	}
	l.checkWritable(path, info)
	if !info.IsDir() {
		if s := l.readFile(path, MaxTotal); s != nil {
			return []*source{s}
		}
		return nil
	}
	var sources []*source
	left := MaxTotal
	for _, name := range l.list(path) {
		if s := l.readFile(filepath.Join(path, name), left); s != nil {
			sources = append(sources, s)
			left -= len(s.text)
		}
	}
	return sources
}

// list returns the names of a directory's configuration files. Hidden files aren't among
// them: editors and config maps keep their own there.
func (l *loader) list(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.unreadable(dir, "can't be read: "+reason(err), "Check its permissions.")
		return nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case strings.HasSuffix(name, ".hcl.json"):
			l.report.add(place{}, Diagnostic{
				Code: NotYet, File: filepath.Join(dir, name),
				Summary: "configuration in JSON isn't supported by this version",
				Fix:     "Write the file as .hcl, or move it away.",
			})
		case strings.HasSuffix(name, ".hcl"):
			names = append(names, name)
		}
	}
	if len(names) > MaxFiles {
		l.unreadable(dir, fmt.Sprintf("has %d configuration files; at most %d are read", len(names), MaxFiles),
			"Put several jobs into a file.")
		return nil
	}
	return names
}

// readFile returns the file at path, or nil when it has been reported. It never waits for a
// pipe or a device, and never reads more than it may.
func (l *loader) readFile(path string, left int) *source {
	info, err := os.Stat(path)
	if err != nil {
		l.unreadable(path, "can't be read: "+reason(err), "Check that it still exists and may be read.")
		return nil
	}
	if !info.Mode().IsRegular() {
		l.unreadable(path, "isn't a regular file", "Name a file, or a directory of *.hcl files.")
		return nil
	}
	// The file may have become a pipe since: O_NONBLOCK keeps that from hanging.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		l.unreadable(path, "can't be read: "+reason(err), "Check its permissions.")
		return nil
	}
	defer f.Close() //nolint:errcheck // only read from
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		l.unreadable(path, "isn't a regular file", "Name a file, or a directory of *.hcl files.")
		return nil
	}
	l.checkWritable(path, info)
	limit := min(MaxFile, left)
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		l.unreadable(path, "can't be read: "+reason(err), "Check the disk.")
	case len(text) > MaxFile:
		l.unreadable(path, "is larger than 1 MiB", "Split it into several files of one directory.")
	case len(text) > limit:
		l.unreadable(path, fmt.Sprintf("is too much: all files together may have %d MiB", MaxTotal>>20), "Run several clusters.")
	default:
		s := &source{name: path, text: text}
		if l.checkText(s) {
			return s
		}
	}
	return nil
}

// checkWritable refuses what anybody could have written where the reader has the rights to do
// anything.
func (l *loader) checkWritable(path string, info fs.FileInfo) {
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	if !l.options.Privileged || sticky || info.Mode().Perm()&0o002 == 0 {
		return
	}
	l.report.add(place{}, Diagnostic{
		Code: OpenToAll, File: path,
		Summary: "everyone may write here, and this process runs as root",
		Fix:     fmt.Sprintf("Whoever writes it runs commands as root. Run chmod o-w %s, or start as another user.", path),
	})
}

// checkText tells whether the file is plain text, and reports where it isn't.
func (l *loader) checkText(s *source) bool {
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRune(s.text[i:])
		what := ""
		switch {
		case r == utf8.RuneError && size == 1:
			what = "bytes that aren't UTF-8"
		case r == 0xFEFF && i == 0, r == '\t', r == '\n', r == '\r':
		case r < ' ' || r >= 0x7F && r < 0xA0:
			what = fmt.Sprintf("the control character U+%04X", r)
		case isHiding(r):
			what = fmt.Sprintf("the invisible character U+%04X, which hides what is really written", r)
		}
		if what != "" {
			l.report.add(place{s, uint32(i), uint32(i + size)}, Diagnostic{
				Code:    BadText,
				Summary: "the file has " + what,
				Fix:     `Save it as UTF-8 text without it. In a string such a character can be written as \uXXXX.`,
			})
			return false
		}
		i += size
	}
	return true
}

// isHiding tells whether r turns the direction of text or has no width, so that a reader sees
// something else than the parser does.
func isHiding(r rune) bool {
	switch {
	case r == 0x061C, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2069, r == 0xFEFF:
		return true
	}
	return false
}

func (l *loader) unreadable(path, what, fix string) {
	l.report.add(place{}, Diagnostic{Code: Unreadable, File: path, Summary: what, Fix: fix})
}

// reason returns what the system said, without the path, which is shown anyway.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
