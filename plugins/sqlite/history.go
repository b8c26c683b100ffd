package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

const (
	defaultPage = 100
	maxPage     = 500
)

// Runs reads the history; see pluginapi.Store. A page has at most 500 runs.
func (s *Store) Runs(ctx context.Context, query pluginapi.RunsQuery) (pluginapi.RunsPage, error) {
	done, err := s.begin(ctx, "runs", 0)
	if err != nil {
		return pluginapi.RunsPage{}, err
	}
	defer done()
	if err := s.db.check(); err != nil {
		return pluginapi.RunsPage{}, err
	}
	text, args, err := runsQuery(query)
	if err != nil {
		return pluginapi.RunsPage{}, err
	}
	limit := query.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	page, err := s.readPage(ctx, text, args, min(limit, maxPage))
	if err != nil {
		return pluginapi.RunsPage{}, fault("runs", s.db.path, err)
	}
	return page, nil
}

// runsQuery writes the query. Each condition stands there only when it is asked for, so that
// SQLite finds the index for it.
func runsQuery(query pluginapi.RunsQuery) (text string, args []any, err error) {
	if query.Slot != 0 && query.Job == "" {
		return "", nil, pluginapi.Errorf(pluginapi.Invalid, "runs", "slot %d without a job: name the job too", query.Slot)
	}
	slot, job, err := parseCursor(query.Cursor)
	if err != nil {
		return "", nil, err
	}
	// Only a run with more than one attempt has earlier ones to be looked up.
	text = `SELECT job, slot_ms, outcome, attempt, given_up, instance, claimed_ms, lease_end_ns, finished_ms, exit_code, detail,
CASE WHEN attempt > 1 THEN (SELECT json_group_array(json_object('Number', attempt, 'Instance', instance, 'Claimed', claimed_ms, 'Released', released) ORDER BY attempt)
  FROM attempts WHERE attempts.job = runs.job AND attempts.slot_ms = runs.slot_ms) ELSE '[]' END
FROM runs `
	if query.Running {
		text += "INDEXED BY runs_running WHERE outcome = 0"
	} else {
		text += "WHERE TRUE"
	}
	text += " AND slot_ms <= ? AND (slot_ms < ? OR job > ?)"
	args = []any{slot, slot, job}
	if query.Job != "" {
		text, args = text+" AND job = ?", append(args, query.Job)
	}
	if query.Slot != 0 {
		text, args = text+" AND slot_ms = ?", append(args, int64(query.Slot))
	}
	return text + " ORDER BY slot_ms DESC, job", args, nil
}

// parseCursor reads a cursor, slot/job: the last run of the page before.
func parseCursor(cursor string) (slot int64, job string, err error) {
	if cursor == "" {
		return math.MaxInt64, "", nil
	}
	number, job, _ := strings.Cut(cursor, "/")
	slot, err = strconv.ParseInt(number, 10, 64)
	if err != nil || !pluginapi.ValidJob(job) {
		return 0, "", pluginapi.Errorf(pluginapi.Invalid, "runs", "cursor %.200q isn't one of this store; give back the Next of a page, or nothing", cursor)
	}
	return slot, job, nil
}

// readPage reads up to limit runs, and whether there are more.
func (s *Store) readPage(ctx context.Context, text string, args []any, limit int) (pluginapi.RunsPage, error) {
	var page pluginapi.RunsPage
	now := s.machine.now()
	rows, err := s.db.read.QueryContext(ctx, text, args...)
	if err != nil {
		return page, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		if len(page.Runs) == limit { // there is one more
			last := page.Runs[limit-1]
			page.Next = fmt.Sprintf("%d/%s", last.Slot, last.Job)
			break
		}
		run, err := scanRun(rows, now)
		if err != nil { // one bad row must not hide the others
			s.log.WarnContext(ctx, "a run in the history can't be read", slog.String("job", run.Job), slog.Int64("slot", int64(run.Slot)), slog.Any("err", err))
			continue
		}
		page.Runs = append(page.Runs, run)
	}
	return page, rows.Err()
}

// earlier is an attempt before the present one, as the query writes it.
type earlier struct {
	Number   int
	Instance string
	Claimed  int64
	Released int
}

func scanRun(rows *sql.Rows, now instant) (pluginapi.Run, error) {
	var r pluginapi.Run
	var present pluginapi.Attempt
	var claimed, leaseEnd, finished int64
	var before string
	err := rows.Scan(&r.Job, &r.Slot, &r.Outcome, &present.Number, &present.Released, &present.Instance,
		&claimed, &leaseEnd, &finished, &r.ExitCode, &r.Detail, &before)
	if err != nil {
		return r, err
	}
	if present.Number < 1 || r.Outcome != 0 && r.Outcome.String() == "" {
		return r, fmt.Errorf("outcome %d of attempt %d isn't what this plugin writes", r.Outcome, present.Number)
	}
	var attempts []earlier
	if err := json.Unmarshal([]byte(before), &attempts); err != nil {
		return r, fmt.Errorf("earlier attempts: %w", err)
	}
	for _, a := range attempts {
		r.Attempts = append(r.Attempts, pluginapi.Attempt{
			Number: a.Number, Instance: a.Instance, Claimed: ms(a.Claimed), Released: a.Released == 1,
		})
	}
	present.Claimed = ms(claimed)
	r.Attempts = append(r.Attempts, present)
	if r.Outcome == 0 {
		r.LeaseLeft = time.Duration(leaseEnd) - now.boot
	} else {
		r.Finished = ms(finished)
	}
	return r, nil
}

// ms turns milliseconds of the wall clock into a time.
func ms(wall int64) time.Time { return time.UnixMilli(wall).UTC() }
