package sqlite

import (
	"context"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// expiredSQL walks the partial index, which holds the running runs only, in the order asked for.
const expiredSQL = `SELECT job, slot_ms, attempt FROM runs INDEXED BY runs_running
WHERE outcome = 0 AND lease_end_ns < ?1 AND (job, slot_ms) > (?2, ?3) ORDER BY job, slot_ms`

// Expired lists runs whose lease has ended; see pluginapi.LeaseStore.
func (s *Store) Expired(ctx context.Context, query pluginapi.ExpiredQuery) ([]pluginapi.RunRef, error) {
	done, err := s.begin(ctx, "expired", 0)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.db.check(); err != nil {
		return nil, err
	}
	limit := query.Limit
	if limit <= 0 {
		limit = 1000
	}
	asked := make(map[string]bool, len(query.Jobs))
	for _, job := range query.Jobs {
		asked[job] = true
	}
	rows, err := s.db.read.QueryContext(ctx, expiredSQL, int64(s.machine.now().boot), query.After.Job, int64(query.After.Slot))
	if err != nil {
		return nil, fault("expired", s.db.path, err)
	}
	defer func() { _ = rows.Close() }() // Err tells
	var found []pluginapi.RunRef
	for len(found) < limit && rows.Next() {
		var r pluginapi.RunRef
		if err := rows.Scan(&r.Job, &r.Slot, &r.Attempt); err != nil {
			return nil, fault("expired", s.db.path, err)
		}
		if len(asked) == 0 || asked[r.Job] {
			found = append(found, r)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fault("expired", s.db.path, err)
	}
	return found, nil
}
