package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

func newExplain(s streams) *cobra.Command {
	var zoneName, from, name string
	var n int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain 'CRON'",
		Short: "Say a schedule in words and when it is due next",
		Long: `Say a schedule in words and list when it is due next.

Five fields are minute, hour, day of month, month and weekday; six begin with the second.
Also: @hourly @daily @weekly @monthly @yearly, @every 15s, @at 2026-12-24T18:00:00Z.`,
		Example: `  anarchon explain '30 2 * * *' --time-zone Europe/Berlin
  anarchon explain '*/10 * * * * *' -n 3 --json`,
		Args: oneArg("the schedule in quotes"),
		RunE: func(_ *cobra.Command, args []string) error {
			start, err := startOf(from)
			if err != nil {
				return err
			}
			if n < 1 || n > 10000 {
				return invalid(fmt.Errorf("-n %d: want from 1 to 10000", n))
			}
			zone, err := schedule.LoadZone(zoneName)
			if err != nil {
				return invalid(fmt.Errorf("--time-zone: %w", err))
			}
			parsed, err := schedule.Parse(args[0], schedule.Options{Zone: zone, Job: name})
			if err != nil {
				return invalid(pointAt(args[0], err))
			}
			slots := nextSlots(parsed, start, n)
			if asJSON {
				return explainJSON(s, args[0], parsed, slots)
			}
			explainText(s, parsed, slots)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&zoneName, "time-zone", "UTC", "the IANA `zone` in which the fields are read")
	flags.StringVar(&from, "from", "", "list slots after this `time`, RFC 3339 (default now)")
	flags.StringVar(&name, "job", "explain", "the job's `name`, from which H picks its value")
	flags.IntVarP(&n, "count", "n", 5, "how many slots to list")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// pointAt adds the text with a caret line under the part that err complains about.
func pointAt(text string, err error) error {
	parse, ok := errors.AsType[*schedule.ParseError](err)
	if !ok || strings.TrimSpace(text) == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return err
	}
	return fmt.Errorf("%w\n  %s\n  %s%s", err, text,
		strings.Repeat(" ", min(parse.Offset, len(text))), strings.Repeat("^", max(1, parse.Len)))
}

func nextSlots(s *schedule.Schedule, after schedule.Slot, n int) []schedule.Slot {
	slots := make([]schedule.Slot, 0, n)
	for len(slots) < n {
		next, ok := s.Next(after)
		if !ok {
			break
		}
		slots = append(slots, next)
		after = next
	}
	return slots
}

func explainText(s streams, parsed *schedule.Schedule, slots []schedule.Slot) {
	fmt.Fprintf(s.out, "%s\n", parsed.Words())
	for _, note := range parsed.Notes() {
		fmt.Fprintf(s.out, "note: %s\n", note)
	}
	if len(slots) == 0 {
		fmt.Fprintln(s.out, "\nnot due any more")
		return
	}
	fmt.Fprintln(s.out)
	writeSlots(s.out, "", parsed, slots)
}

func explainJSON(s streams, text string, parsed *schedule.Schedule, slots []schedule.Slot) error {
	doc := struct {
		Format   string   `json:"format"`
		Schedule string   `json:"schedule"`
		TimeZone string   `json:"time_zone"`
		Words    string   `json:"words"`
		Notes    []string `json:"notes"`
		Next     []string `json:"next"`
	}{jsonFormat, text, parsed.Zone().String(), parsed.Words(), list(parsed.Notes()), make([]string, len(slots))}
	for i, slot := range slots {
		doc.Next[i] = slot.Time().Format(time.RFC3339)
	}
	return writeJSON(s.out, doc)
}
