package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver registers itself with database/sql

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// database is an open file.
type database struct {
	identity

	path  string
	write *sql.DB // one connection, the writer's
	read  *sql.DB
	look  *sql.Stmt // lookSQL on read's connections
	// anchor is a connection that does nothing: as long as there is one, SQLite keeps the log
	// and the shared memory, so a change of these files is somebody else's.
	anchor *sql.Conn
}

// readers is how many claims can be looked up at the same time.
const readers = 4

// open opens the file, and creates or migrates it where needed.
func open(ctx context.Context, s settings, m machine) (*database, error) {
	path, err := locate(s.Path, m)
	if err != nil {
		return nil, err
	}
	boot, err := m.bootID()
	if err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, wrongPath(pluginapi.Unavailable, "%v; the plugin must be able to write the file and its directory", err)
	}
	d := &database{path: path}
	if d.write, err = sql.Open("sqlite", dsn(path, s, "")); err != nil {
		return nil, fault("open database", path, err)
	}
	if d.read, err = sql.Open("sqlite", dsn(path, s, "&_query_only=1")); err != nil {
		return nil, errors.Join(fault("open database", path, err), d.write.Close())
	}
	d.write.SetMaxOpenConns(1)
	d.read.SetMaxOpenConns(readers + 1) // one is the anchor
	d.read.SetMaxIdleConns(readers)
	if err := d.begin(ctx, s, boot); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// begin makes the file ready and checks that its connections are what the guarantee needs.
func (d *database) begin(ctx context.Context, s settings, boot string) (err error) {
	err = insist(ctx, s.busyTimeout, func() error { return prepare(ctx, d.write, d.path, boot) })
	if err != nil {
		return err
	}
	if err := d.checkModes(ctx, s); err != nil {
		return err
	}
	if d.anchor, err = d.read.Conn(ctx); err != nil {
		return fault("open database", d.path, err)
	}
	if err := d.anchor.QueryRowContext(ctx, "SELECT boot FROM meta").Scan(new(string)); err != nil {
		return fault("open database", d.path, err)
	}
	if d.look, err = d.read.PrepareContext(ctx, lookSQL); err != nil {
		return fault("open database", d.path, err)
	}
	d.identity, err = identify(d.path)
	return err
}

// checkModes makes sure that the settings took: the guarantee rests on them.
func (d *database) checkModes(ctx context.Context, s settings) error {
	var journal string
	var synchronous int
	err := errors.Join(
		d.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal),
		d.write.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous),
	)
	want := map[string]int{syncFull: 2, syncNormal: 1}[s.Synchronous]
	switch {
	case err != nil:
		return fault("open database", d.path, err)
	case journal != "wal" || synchronous != want:
		return pluginapi.Errorf(pluginapi.Unsupported, "configure", "%s: SQLite has journal_mode %s and synchronous %d; want wal and %d",
			d.path, journal, synchronous, want)
	}
	return nil
}

// dsn is the file's address for the driver. The path, which alone comes from the user, is
// escaped. SQLite must never create the file: a new one in place of one that was deleted
// would know nothing of its claims.
func dsn(path string, s settings, more string) string {
	file := url.URL{Scheme: "file", Path: path}
	return file.String() + "?mode=rw&_txlock=immediate&_error_rc=1&_busy_timeout=" + strconv.FormatInt(s.busyTimeout.Milliseconds(), 10) +
		"&_synchronous=" + strings.ToUpper(s.Synchronous) + more
}

// close closes the connections. Nothing may use them any more.
func (d *database) close() error {
	var errs []error
	if d.look != nil {
		errs = append(errs, d.look.Close())
	}
	if d.anchor != nil {
		errs = append(errs, d.anchor.Close())
	}
	errs = append(errs, d.read.Close(), d.write.Close())
	if err := errors.Join(errs...); err != nil {
		return fault("close database", d.path, err)
	}
	return nil
}
