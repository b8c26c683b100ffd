package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// runJSON is a run as `runs --json` shows it; its form is stable.
type runJSON struct {
	Run      string        `json:"run"`
	Job      string        `json:"job"`
	SlotMS   int64         `json:"slot_ms"`
	Slot     time.Time     `json:"slot"`
	Outcome  string        `json:"outcome"`             // "running", or "waiting" for a takeover, until the run has ended
	ExitCode *int          `json:"exit_code,omitempty"` // once it has ended
	Detail   string        `json:"detail,omitempty"`
	Finished *time.Time    `json:"finished,omitempty"`
	Attempts []attemptJSON `json:"attempts"`
}

type attemptJSON struct {
	Number   int       `json:"number"`
	Instance string    `json:"instance"`
	Claimed  time.Time `json:"claimed"`
	Released bool      `json:"released,omitempty"`
}

func newRuns(s streams) *cobra.Command {
	var config, dataDir string
	var limit int
	var running, asJSON bool
	cmd := &cobra.Command{
		Use:   "runs [JOB|RUN]",
		Short: "Show what ran where, and how it ended",
		Long: `Show what ran where, and how it ended, newest first. It reads the store: no instance needs to be
running. Name a job to see its runs, or a run (job@20261202T013000Z) to see that one.`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 1_000_000 {
				return invalid(fmt.Errorf("--limit %d: want from 1 to 1000000", limit))
			}
			query := pluginapi.RunsQuery{Running: running}
			if len(args) == 1 {
				if err := selectRuns(&query, args[0]); err != nil {
					return invalid(err)
				}
			}
			l, err := load(cmd.Context(), s, config, dataDir)
			if err != nil {
				return err
			}
			runs, err := readRuns(cmd.Context(), l, query, limit)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(s.out, struct {
					Format string    `json:"format"`
					Runs   []runJSON `json:"runs"`
				}{jsonFormat, runs})
			}
			return writeRuns(s, runs)
		},
	}
	flags := cmd.Flags()
	addConfigFlag(flags, &config)
	addDataDirFlag(flags, &dataDir)
	flags.IntVar(&limit, "limit", 50, "show at most this many runs")
	flags.BoolVar(&running, "running", false, "only runs that have not ended")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func atMostOne(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("want at most one job or run; got %d", len(args))
	}
	return nil
}

// selectRuns makes the query one for a job or, by a run's name, one for a run.
func selectRuns(query *pluginapi.RunsQuery, text string) error {
	name, at, isRun := strings.Cut(text, "@")
	if !pluginapi.ValidJob(name) {
		return fmt.Errorf("%.140q names neither a job nor a run", text)
	}
	query.Job = name
	if !isRun {
		return nil
	}
	slot, err := job.ParseSlot(at)
	if err != nil {
		return fmt.Errorf("run %.200q: %w", text, err)
	}
	query.Slot = pluginapi.Slot(slot)
	return nil
}

// readRuns reads up to limit runs from the store, through a plugin process of its own.
func readRuns(ctx context.Context, l *loaded, query pluginapi.RunsQuery, limit int) (runs []runJSON, err error) {
	plugin, err := pluginclient.Open(ctx, pluginclient.Options{Path: l.plugin, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer closePlugin(ctx, plugin)
	store, info, err := plugin.Configure(ctx, pluginapi.Config{Settings: l.setting, Instance: "cli"})
	if err != nil {
		if _, missing := os.Stat(l.dataDir); errors.Is(missing, fs.ErrNotExist) {
			err = fmt.Errorf("%w (no instance has run here: there is no data directory %s; --data-dir names another)", err, l.dataDir)
		}
		return nil, fmt.Errorf("store %s: %w", l.store.Name, err)
	}
	defer func() { err = errors.Join(err, store.Close(ctx)) }()
	if !info.HasHistory {
		return nil, fmt.Errorf("store %s keeps no history", l.store.Name)
	}
	runs = []runJSON{}
	for len(runs) < limit {
		query.Limit = min(limit-len(runs), 500)
		page, err := store.Runs(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", l.store.Name, err)
		}
		for _, r := range page.Runs {
			runs = append(runs, showRun(r))
		}
		if page.Next == "" {
			break
		}
		query.Cursor = page.Next
	}
	return runs, nil
}

func showRun(r pluginapi.Run) runJSON {
	shown := runJSON{
		Run: job.Run{Job: r.Job, Slot: job.Slot(r.Slot)}.String(), Job: r.Job, SlotMS: int64(r.Slot),
		Slot: r.Slot.Time(), Outcome: r.Outcome.String(), Detail: r.Detail,
	}
	switch {
	case r.Outcome != 0:
		shown.Finished, shown.ExitCode = &r.Finished, &r.ExitCode
	case r.LeaseLeft < 0: // its holder died, or gave it up
		shown.Outcome = "waiting"
	default:
		shown.Outcome = "running"
	}
	for _, a := range r.Attempts {
		shown.Attempts = append(shown.Attempts, attemptJSON{a.Number, a.Instance, a.Claimed, a.Released})
	}
	return shown
}

func writeRuns(s streams, runs []runJSON) error {
	if len(runs) == 0 {
		fmt.Fprintln(s.out, "no runs")
		return nil
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tOUTCOME\tATTEMPTS\tINSTANCE\tCLAIMED\tTOOK\tDETAIL")
	for _, r := range runs {
		var last attemptJSON
		if n := len(r.Attempts); n > 0 {
			last = r.Attempts[n-1]
		}
		took := ""
		if r.Finished != nil {
			took = r.Finished.Sub(last.Claimed).Round(time.Millisecond).String()
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", r.Run, r.Outcome, len(r.Attempts), last.Instance,
			last.Claimed.UTC().Format(time.RFC3339), took, printable(r.Detail))
	}
	return t.Flush()
}

// printable shows text from a job or a plugin on a terminal without letting it write there
// what it likes.
func printable(text string) string {
	quoted := fmt.Sprintf("%q", text)
	return quoted[1 : len(quoted)-1]
}
