package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// transaction is the connection that writes, and its statements, ready for use. The writer
// begins and ends the transactions on it.
type transaction struct {
	path    string
	history int // how many ended runs of a job are kept
	now     func() instant
	conn    *sql.Conn

	look                                 *sql.Stmt
	insert, keep, takeOver, interrupt    *sql.Stmt // claim.go
	renew, end, outcome                  *sql.Stmt // lease.go
	count, forget, forgetAttempts, floor *sql.Stmt // prune.go
}

// transact connects for writing.
func (d *database) transact(ctx context.Context, history int, now func() instant) (*transaction, error) {
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &transaction{path: d.path, history: history, now: now, conn: conn}
	for text, stmt := range map[string]**sql.Stmt{
		lookSQL: &t.look, insertSQL: &t.insert, keepSQL: &t.keep, takeOverSQL: &t.takeOver, interruptSQL: &t.interrupt,
		renewSQL: &t.renew, endSQL: &t.end, outcomeSQL: &t.outcome,
		countSQL: &t.count, forgetSQL: &t.forget, forgetAttemptsSQL: &t.forgetAttempts, floorSQL: &t.floor,
	} {
		if *stmt, err = conn.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // they end with the connection
			t.close()
			return nil, err
		}
	}
	return t, nil
}

// close closes the connection for good: it doesn't come back to the pool with what ails it.
func (t *transaction) close() {
	_ = t.conn.Raw(func(any) error { return driver.ErrBadConn }) // that error is how to ask for it
}
