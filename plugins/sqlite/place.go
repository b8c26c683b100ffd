package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// locate returns the file that path leads to, with symbolic links followed: SQLite keeps its
// log and its shared memory beside that file. It refuses what processes can't safely share.
func locate(path string, m machine) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", wrongPath(pluginapi.Invalid, "%v; create the directory first", err)
	}
	file := filepath.Join(dir, filepath.Base(path))
	info, err := os.Lstat(file)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return "", wrongPath(pluginapi.Invalid, "%s is a symbolic link that leads nowhere: %v", path, err)
		}
		info, err = os.Lstat(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // it will be created
	case err != nil:
		return "", wrongPath(pluginapi.Unavailable, "%v", err)
	case !info.Mode().IsRegular():
		return "", wrongPath(pluginapi.Invalid, "%s is no file (%s); want the path of a database file", path, info.Mode().Type())
	case links(info) > 1:
		// Each name would get a log of its own, and each half of the instances its own winner.
		return "", wrongPath(pluginapi.Unsupported, "%s has %d names (hard links), and SQLite is only safe with one; copy it, or remove the others", path, links(info))
	}
	return file, m.checkFileSystem(filepath.Dir(file))
}

// wrongPath is an error that points at the path's setting.
func wrongPath(code pluginapi.Code, format string, args ...any) *pluginapi.Error {
	return &pluginapi.Error{Code: code, Op: "configure", Diagnostics: []pluginapi.Diagnostic{{
		Code: "sqlite.path", Summary: fmt.Sprintf(format, args...), Path: pluginapi.Attr("path"),
	}}}
}

// identity is which files a database was opened as: the file, its log and its shared memory.
// SQLite keeps all three while any process has the database open.
type identity struct {
	paths [3]string
	files [3]os.FileInfo
}

func identify(path string) (identity, error) {
	id := identity{paths: [3]string{path, path + "-wal", path + "-shm"}}
	for i, p := range id.paths {
		var err error
		if id.files[i], err = os.Stat(p); err != nil {
			return id, pluginapi.Errorf(pluginapi.Unavailable, "open database", "%w", err)
		}
	}
	return id, nil
}

// check notices that one of the files was deleted, or another put in its place: what is
// written to it from then on is lost to every process that opens the database later.
func (id identity) check() error {
	for i, p := range id.paths {
		now, err := os.Stat(p)
		if err != nil || !os.SameFile(id.files[i], now) {
			return pluginapi.Errorf(pluginapi.Unavailable, "use database",
				"%s was deleted or replaced while instances use it, and with it the memory of which slots ran; put the old files back, or restart all instances to go on with what is there now", p)
		}
	}
	return nil
}
