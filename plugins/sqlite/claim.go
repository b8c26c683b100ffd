package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strconv"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Claim answers those claims that can't win after a look, and decides the others in one
// transaction; see pluginapi.Store.
func (s *Store) Claim(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	done, err := s.begin(ctx, "claim", len(claims))
	if err != nil {
		return nil, err
	}
	defer done()
	results := make([]pluginapi.ClaimResult, len(claims))
	valid := make([]int, 0, len(claims)) // indexes into claims
	for i, c := range claims {
		if results[i].Err = c.Check(); results[i].Err == nil {
			valid = append(valid, i)
		}
	}
	// Losers are answered here: they wait for no lock and write nothing (semantics §3.7).
	now := s.machine.now()
	answers, undecided, err := s.lookAt(ctx, pick(claims, valid), now)
	if err != nil {
		return nil, err
	}
	for k, i := range valid {
		results[i] = answers[k]
	}
	if len(undecided) == 0 {
		return results, nil
	}
	for k, i := range undecided {
		undecided[k] = valid[i]
	}
	decided, err := s.decideUnderLock(ctx, pick(claims, undecided))
	if err != nil {
		return nil, err
	}
	for k, i := range undecided {
		results[i] = decided[k]
	}
	return results, nil
}

// pick returns the claims with these indexes: copies, since who gives up waiting may change
// what it sent.
func pick(claims []pluginapi.Claim, indexes []int) []pluginapi.Claim {
	picked := make([]pluginapi.Claim, len(indexes))
	for k, i := range indexes {
		picked[k] = claims[i]
	}
	return picked
}

// lookAt answers what can be answered without writing, and returns the indexes of the rest.
func (s *Store) lookAt(ctx context.Context, claims []pluginapi.Claim, now instant) (results []pluginapi.ClaimResult, undecided []int, err error) {
	if err := s.db.check(); err != nil {
		return nil, nil, err
	}
	rows, err := look(ctx, s.db.look, claims, now)
	if err != nil {
		return nil, nil, fault("claim", s.db.path, err)
	}
	results = make([]pluginapi.ClaimResult, len(claims))
	for i, c := range claims {
		var step step
		if results[i], step = rows[runOf(c)].answer(c, now, s.db.path); step != nothing {
			undecided = append(undecided, i)
		}
	}
	return results, undecided, nil
}

// decideUnderLock is the atomic step.
func (s *Store) decideUnderLock(ctx context.Context, claims []pluginapi.Claim) ([]pluginapi.ClaimResult, error) {
	results := make([]pluginapi.ClaimResult, len(claims))
	err := s.writer.do(ctx, "claim", len(claims), func(ctx context.Context, tx *transaction) error {
		now := tx.now() // under the lock: an earlier reading could be stale by now
		rows, err := look(ctx, tx.look, claims, now)
		if err != nil {
			return err
		}
		written := make(map[string]bool, len(claims)) // jobs whose rows aren't what the look found
		for i, c := range claims {
			if written[c.Job] {
				again, err := look(ctx, tx.look, claims[i:i+1], now)
				if err != nil {
					return err
				}
				maps.Copy(rows, again)
			}
			var step step
			results[i], step = rows[runOf(c)].answer(c, now, tx.path)
			written[c.Job] = written[c.Job] || step != nothing
			if err := tx.carryOut(ctx, step, c, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err // results may still be written to
	}
	return results, nil
}

// answer is decide, for a row that may not be sound: then the claim has no answer, and its
// neighbours have theirs.
func (r row) answer(c pluginapi.Claim, now instant, path string) (pluginapi.ClaimResult, step) {
	if r.found && !r.sound() {
		return pluginapi.ClaimResult{Err: pluginapi.Errorf(pluginapi.Internal, "claim",
			"%s: the row of job %s, slot %d isn't one that this plugin writes; it is left alone", path, c.Job, c.Slot)}, nothing
	}
	return r.decide(c, now)
}

// lookSQL reads all that the decisions on a batch of claims need: ?1 is a JSON object with the
// slots by job, ?2 is now on the boot clock. The claim's own run is never live where it
// matters whether one is, so it needs no exception.
const lookSQL = `SELECT c.key, c.atom, r.job IS NOT NULL,
  coalesce(r.outcome, 0), coalesce(r.token, ''), coalesce(r.attempt, 0), coalesce(r.released, 0), coalesce(r.instance, ''), coalesce(r.lease_end_ns, 0),
  coalesce(j.floor_ms, 0),
  EXISTS (SELECT 1 FROM runs WHERE job = c.key AND outcome = 0 AND lease_end_ns >= ?2)
FROM json_each(?1) AS c LEFT JOIN runs AS r ON r.slot_ms = c.atom AND r.job = c.key LEFT JOIN jobs AS j ON j.job = c.key`

// run names a run.
type run struct {
	job  string
	slot pluginapi.Slot
}

func runOf(c pluginapi.Claim) run { return run{c.Job, c.Slot} }

// look reads the rows of the claims' runs, which must be valid.
func look(ctx context.Context, stmt *sql.Stmt, claims []pluginapi.Claim, now instant) (map[run]row, error) {
	found := make(map[run]row, len(claims))
	if len(claims) == 0 {
		return found, nil
	}
	rows, err := stmt.QueryContext(ctx, slotsByJob(claims), int64(now.boot))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var key run
		var r row
		err := rows.Scan(&key.job, &key.slot, &r.found, &r.outcome, &r.token, &r.attempt, &r.released, &r.instance, &r.leaseEnd, &r.floor, &r.busy)
		if err != nil {
			return nil, err
		}
		found[key] = r
	}
	return found, rows.Err()
}

// slotsByJob writes which runs the claims are about as a JSON object, in which a job may stand
// more than once. Names of jobs need no escaping.
func slotsByJob(claims []pluginapi.Claim) string {
	b := make([]byte, 0, 48*len(claims))
	for i, c := range claims {
		if i == 0 {
			b = append(b, `{"`...)
		} else {
			b = append(b, `,"`...)
		}
		b = append(b, c.Job...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, int64(c.Slot), 10)
	}
	return string(append(b, '}'))
}

// The statements that a decision may need: ?1 job, ?2 slot, ?3 token, ?4 instance, ?5 now,
// ?6 the end of the lease.
const (
	insertSQL = `INSERT INTO runs (job, slot_ms, token, instance, claimed_ms, lease_end_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`

	keepSQL = `INSERT INTO attempts (job, slot_ms, attempt, instance, claimed_ms, released)
SELECT job, slot_ms, attempt, instance, claimed_ms, given_up FROM runs WHERE job = ?1 AND slot_ms = ?2`
	takeOverSQL = `UPDATE runs SET attempt = attempt + 1, given_up = 0, token = ?3, instance = ?4, claimed_ms = ?5, lease_end_ns = ?6
WHERE job = ?1 AND slot_ms = ?2`

	interruptSQL = `UPDATE runs SET outcome = 5, token = '', finished_ms = ?3, detail = ?4 WHERE job = ?1 AND slot_ms = ?2`
)

// carryOut writes what was decided.
func (t *transaction) carryOut(ctx context.Context, step step, c pluginapi.Claim, now instant) (err error) {
	wall, end := now.wall.UnixMilli(), int64(now.boot+c.Lease)
	switch step {
	case nothing:
		return nil
	case insertFirst:
		_, err = t.insert.ExecContext(ctx, c.Job, int64(c.Slot), string(c.Token), c.Instance, wall, end)
		return err
	case takeOver:
		if _, err := t.keep.ExecContext(ctx, c.Job, int64(c.Slot)); err != nil {
			return err
		}
		_, err = t.takeOver.ExecContext(ctx, c.Job, int64(c.Slot), string(c.Token), c.Instance, wall, end)
		return err
	case interrupt:
		detail := fmt.Sprintf("the lease ended, and no attempt of %d is left", c.MaxAttempts)
		if _, err := t.interrupt.ExecContext(ctx, c.Job, int64(c.Slot), wall, detail); err != nil {
			return err
		}
		return t.countEnded(ctx, c.Job, now)
	}
	return nil
}
