package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Runs reads the history.
func (s *Store) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	if err := s.begin(ctx, "runs", 0); err != nil {
		return pluginapi.RunsPage{}, err
	}
	defer s.end()
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	now := s.data.options.Now()
	var runs []pluginapi.Run
	for name, j := range s.data.jobs {
		for slot, r := range j.runs {
			run := pluginapi.Run{
				Job: name, Slot: slot,
				Outcome: r.outcome, ExitCode: r.exitCode, Detail: r.detail, Finished: r.finished,
				Attempts: slices.Clone(r.attempts),
			}
			if r.outcome == 0 {
				run.LeaseLeft = r.until.Sub(now)
			}
			runs = append(runs, run)
		}
	}
	return page(runs, query)
}

// page sorts the runs, newest slot first and then by job, and cuts out what the query asks for.
func page(runs []pluginapi.Run, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	if query.Slot != 0 && query.Job == "" {
		return pluginapi.RunsPage{}, pluginapi.Errorf(pluginapi.Invalid, "runs", "slot %d without a job: name the job too", query.Slot)
	}
	after, err := parseCursor(query.Cursor)
	if err != nil {
		return pluginapi.RunsPage{}, err
	}
	runs = slices.DeleteFunc(runs, func(r pluginapi.Run) bool {
		return query.Job != "" && r.Job != query.Job ||
			query.Slot != 0 && r.Slot != query.Slot ||
			query.Running && r.Outcome != 0 ||
			query.Cursor != "" && newestFirst(r, after) <= 0
	})
	slices.SortFunc(runs, newestFirst)
	limit := query.Limit
	if limit <= 0 {
		limit = 100
	}
	if len(runs) <= limit {
		return pluginapi.RunsPage{Runs: runs}, nil
	}
	last := runs[limit-1]
	return pluginapi.RunsPage{Runs: runs[:limit], Next: fmt.Sprintf("%d/%s", last.Slot, last.Job)}, nil
}

func newestFirst(a, b pluginapi.Run) int {
	return cmp.Or(cmp.Compare(b.Slot, a.Slot), cmp.Compare(a.Job, b.Job))
}

// parseCursor reads a cursor, slot/job: the last run of the page before.
func parseCursor(cursor string) (pluginapi.Run, error) {
	if cursor == "" {
		return pluginapi.Run{}, nil
	}
	slot, job, found := strings.Cut(cursor, "/")
	n, err := strconv.ParseInt(slot, 10, 64)
	if !found || err != nil {
		return pluginapi.Run{}, pluginapi.Errorf(pluginapi.Invalid, "runs",
			"cursor %.40q isn't one of this store; give back the Next of a page, or nothing", cursor)
	}
	return pluginapi.Run{Job: job, Slot: pluginapi.Slot(n)}, nil
}
