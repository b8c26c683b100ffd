package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Heartbeat extends leases, or gives them up; see pluginapi.LeaseStore.
func (s *Store) Heartbeat(ctx context.Context, heartbeats []pluginapi.Heartbeat) ([]pluginapi.HeartbeatResult, error) {
	done, err := s.begin(ctx, "heartbeat", len(heartbeats))
	if err != nil {
		return nil, err
	}
	defer done()
	heartbeats = slices.Clone(heartbeats) // the caller may give up waiting
	results := make([]pluginapi.HeartbeatResult, len(heartbeats))
	err = s.writer.do(ctx, "heartbeat", len(heartbeats), func(ctx context.Context, tx *transaction) error {
		for i, h := range heartbeats {
			if results[i].Err = h.Check(); results[i].Err != nil {
				continue
			}
			var err error
			if results[i], err = tx.heartbeat(ctx, h); err != nil {
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

// renewSQL gives the lease a new end, ?4. ?5 tells whether the holder gives the run up: then
// its attempt doesn't count, unless it changes its mind before somebody takes over.
const renewSQL = `UPDATE runs SET lease_end_ns = ?4, released = released - given_up + ?5, given_up = ?5
WHERE job = ?1 AND slot_ms = ?2 AND token = ?3 AND outcome = 0`

func (t *transaction) heartbeat(ctx context.Context, h pluginapi.Heartbeat) (pluginapi.HeartbeatResult, error) {
	left := h.Lease
	if h.Lease == 0 {
		left = -1 // a lease is live until its last instant, so one that ends at once has ended before now
	}
	result, err := t.renew.ExecContext(ctx, h.Job, int64(h.Slot), string(h.Token), int64(t.now().boot+left), h.Lease == 0)
	if err != nil {
		problem := rowFault("heartbeat", t.path, err)
		if problem == nil {
			return pluginapi.HeartbeatResult{}, err
		}
		return pluginapi.HeartbeatResult{Err: problem}, nil
	}
	changed, err := result.RowsAffected()
	if err != nil || changed == 0 { // not running, or not under this token
		return pluginapi.HeartbeatResult{Verdict: pluginapi.Lost}, err
	}
	return pluginapi.HeartbeatResult{Verdict: pluginapi.Won, LeaseLeft: left}, nil
}

// Finish ends runs; see pluginapi.LeaseStore.
func (s *Store) Finish(ctx context.Context, finishes []pluginapi.Finish) ([]pluginapi.FinishResult, error) {
	done, err := s.begin(ctx, "finish", len(finishes))
	if err != nil {
		return nil, err
	}
	defer done()
	finishes = slices.Clone(finishes) // the caller may give up waiting
	results := make([]pluginapi.FinishResult, len(finishes))
	err = s.writer.do(ctx, "finish", len(finishes), func(ctx context.Context, tx *transaction) error {
		for i, f := range finishes {
			if results[i].Err = f.Check(); results[i].Err != nil {
				continue
			}
			var err error
			if results[i], err = tx.finish(ctx, f); err != nil {
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

// The statements of a finish: ?1 job, ?2 slot, ?3 token.
const (
	endSQL = `UPDATE runs SET outcome = ?4, exit_code = ?5, detail = ?6, finished_ms = ?7
WHERE job = ?1 AND slot_ms = ?2 AND token = ?3 AND outcome = 0`
	outcomeSQL = `SELECT outcome FROM runs WHERE job = ?1 AND slot_ms = ?2 AND token = ?3`
)

func (t *transaction) finish(ctx context.Context, f pluginapi.Finish) (pluginapi.FinishResult, error) {
	now := t.now()
	detail := strings.ToValidUTF8(f.Detail[:min(len(f.Detail), pluginapi.MaxDetail)], "") // the cut may halve a letter
	result, err := t.end.ExecContext(ctx, f.Job, int64(f.Slot), string(f.Token), int(f.Outcome), f.ExitCode, detail, now.wall.UnixMilli())
	if err != nil {
		problem := rowFault("finish", t.path, err)
		if problem == nil {
			return pluginapi.FinishResult{}, err
		}
		return pluginapi.FinishResult{Err: problem}, nil
	}
	changed, err := result.RowsAffected()
	switch {
	case err != nil:
		return pluginapi.FinishResult{}, err
	case changed == 0:
		return t.finishAgain(ctx, f)
	default:
		return pluginapi.FinishResult{Verdict: pluginapi.Done}, t.countEnded(ctx, f.Job, now)
	}
}

// finishAgain answers a finish of a run that isn't running under the token.
func (t *transaction) finishAgain(ctx context.Context, f pluginapi.Finish) (pluginapi.FinishResult, error) {
	var outcome pluginapi.Outcome
	err := t.outcome.QueryRowContext(ctx, f.Job, int64(f.Slot), string(f.Token)).Scan(&outcome)
	switch {
	case errors.Is(err, sql.ErrNoRows): // another's, nobody's, or unknown
		return pluginapi.FinishResult{Verdict: pluginapi.Lost}, nil
	case err != nil:
		return pluginapi.FinishResult{}, err
	case outcome == f.Outcome: // sent again: the saved result, and the first one's details stay
		return pluginapi.FinishResult{Verdict: pluginapi.Done}, nil
	default:
		return pluginapi.FinishResult{Err: pluginapi.Errorf(pluginapi.Conflict, "finish",
			"the run has already ended as %s under this token, so it can't end as %s", outcome, f.Outcome)}, nil
	}
}
