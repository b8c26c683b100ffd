package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// newLog returns a log on w: text on a terminal and JSON elsewhere, unless format says.
func newLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", level)
	}
	o := &slog.HandlerOptions{Level: l}
	if format == "" {
		format = "json"
		if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			format = "text"
		}
	}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	default:
		return nil, fmt.Errorf("--log-format %q: want text or json", format)
	}
}
