package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // for the schema
	"fmt"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

//go:embed schema.sql
var schema1 string

// applicationID marks the file as ours (PRAGMA application_id): "anrc" in ASCII.
const applicationID = 0x616e7263

// migrations returns what leads from each schema to the next; the first begins with an empty
// file. The schema's number is PRAGMA user_version.
func migrations() []string { return []string{schema1} }

// prepare creates or migrates what the file holds. Many processes may do so at once: the
// first to get the write lock does it, the others find it done.
func prepare(ctx context.Context, db *sql.DB, path, boot string) error {
	// Before anything is written, also before WAL is switched on: the file may be another's.
	if _, err := recognise(ctx, db, path); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return fault("switch on the write-ahead log", path, err)
	}
	if mode != "wal" {
		return pluginapi.Errorf(pluginapi.Unsupported, "configure",
			"%s: SQLite can't use its write-ahead log here (journal mode %s); put the file on a local disk", path, mode)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fault("lock database", path, err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := migrate(ctx, tx, path); err != nil {
		return err
	}
	if err := noteBoot(ctx, tx, boot); err != nil {
		return fault("note the boot", path, err)
	}
	if err := tx.Commit(); err != nil {
		return fault("prepare database", path, err) // the next try finds out whether it is done
	}
	return nil
}

// migrate brings the schema up to date, under the write lock.
func migrate(ctx context.Context, tx *sql.Tx, path string) error {
	version, err := recognise(ctx, tx, path)
	if err != nil {
		return err
	}
	steps := migrations()
	if version == len(steps) {
		return nil
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fault("migrate schema", path, err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps))
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return fault("migrate schema", path, err)
	}
	return nil
}

// noteBoot ends the leases of an earlier boot: their holders are gone, and the clock that
// they were counted on has begun anew.
func noteBoot(ctx context.Context, tx *sql.Tx, boot string) error {
	result, err := tx.ExecContext(ctx,
		`INSERT INTO meta (id, boot) VALUES (1, ?1) ON CONFLICT DO UPDATE SET boot = ?1 WHERE boot <> ?1`, boot)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err != nil || changed == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE runs SET lease_end_ns = -1 WHERE outcome = 0")
	return err
}

// queryer is a database or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// recognise returns the schema's number, 0 for an empty file, and refuses a file that it must
// not touch.
func recognise(ctx context.Context, q queryer, path string) (int, error) {
	var id, version, tables int
	const query = `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)`
	if err := q.QueryRowContext(ctx, query).Scan(&id, &version, &tables); err != nil {
		return 0, fault("read schema", path, err)
	}
	known := len(migrations())
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, wrongPath(pluginapi.Unsupported, "%s is another program's SQLite database; give anarchon a file of its own", path)
	case version > known:
		return 0, wrongPath(pluginapi.Unsupported,
			"%s has store schema %d, this plugin knows %d; use the version of the plugin that wrote it, or a newer one", path, version, known)
	case version < 1:
		return 0, wrongPath(pluginapi.Unsupported,
			"%s has store schema %d, which no version of this plugin writes; restore it from a backup", path, version)
	}
	return version, nil
}
