package sqlite

import (
	"context"
	"time"
)

const (
	// pruneMost bounds what one ended run can make us delete, so that no transaction holds the
	// write lock for long, however much there is to forget.
	pruneMost = 128
	// pruneSlack is how many ended runs more than history_size a job may have before some are
	// deleted; a small history has less. So most ends of runs delete nothing.
	pruneSlack = 64
	// keepAtLeast is how long an ended run is kept whatever history_size: its finish may be
	// sent again, and a slot that is only a little older may still be claimed.
	keepAtLeast = 10 * time.Minute
)

// The statements that count and forget ended runs: ?1 job.
const (
	countSQL = `INSERT INTO jobs (job, ended, floor_ms) VALUES (?1, 1, 0) ON CONFLICT DO UPDATE SET ended = ended + 1 RETURNING ended`

	// The oldest ?2 are looked at, and of them those that ended before ?3 go.
	forgetSQL = `DELETE FROM runs WHERE job = ?1 AND slot_ms IN (
  SELECT slot_ms FROM (SELECT slot_ms, finished_ms FROM runs WHERE job = ?1 AND outcome <> 0 ORDER BY slot_ms LIMIT ?2)
  WHERE finished_ms < ?3)
RETURNING slot_ms`
	forgetAttemptsSQL = `DELETE FROM attempts WHERE job = ?1 AND slot_ms <= ?2
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.job = attempts.job AND runs.slot_ms = attempts.slot_ms)`
	// An unknown slot at or below the floor may have been claimed: it is never given away again.
	floorSQL = `UPDATE jobs SET ended = max(0, ended - ?2), floor_ms = max(floor_ms, ?3) WHERE job = ?1`
)

// countEnded notes that a run of the job has ended, and forgets the oldest ones when there are
// too many.
func (t *transaction) countEnded(ctx context.Context, job string, now instant) error {
	var ended int
	if err := t.count.QueryRowContext(ctx, job).Scan(&ended); err != nil {
		return err
	}
	surplus := ended - t.history
	if surplus <= min(pruneSlack, t.history/8) {
		return nil
	}
	forgotten, newest, err := t.forgetOldest(ctx, job, min(surplus, pruneMost), now.wall.Add(-keepAtLeast))
	if err != nil || forgotten == 0 {
		return err
	}
	if _, err := t.forgetAttempts.ExecContext(ctx, job, newest); err != nil {
		return err
	}
	_, err = t.floor.ExecContext(ctx, job, forgotten, newest)
	return err
}

// forgetOldest deletes up to most runs that ended before the given time, and returns how many
// it was and the newest slot among them.
func (t *transaction) forgetOldest(ctx context.Context, job string, most int, before time.Time) (forgotten int, newest int64, err error) {
	rows, err := t.forget.QueryContext(ctx, job, most, before.UnixMilli())
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var slot int64
		if err := rows.Scan(&slot); err != nil {
			return 0, 0, err
		}
		forgotten++
		newest = max(newest, slot)
	}
	return forgotten, newest, rows.Err()
}
