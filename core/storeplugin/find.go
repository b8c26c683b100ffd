package storeplugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Prefix starts the name of every plugin's binary; the plugin's name follows.
const Prefix = "anarchon-plugin-"

// DirVariable names the environment variable with a directory of plugins.
const DirVariable = "ANARCHON_PLUGIN_DIR"

// Dirs returns where plugins are looked for, in order: the directory of the running program,
// the one that environ names in [DirVariable], and the user's data directory.
func Dirs(environ func(string) string) []string {
	var dirs []string
	if program, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(program))
	}
	if dir := environ(DirVariable); dir != "" {
		dirs = append(dirs, dir)
	}
	data := environ("XDG_DATA_HOME")
	if home := environ("HOME"); data == "" && home != "" {
		data = filepath.Join(home, ".local", "share")
	}
	if data != "" {
		dirs = append(dirs, filepath.Join(data, "anarchon", "plugins"))
	}
	return dirs
}

// Find returns the path of the plugin's binary. A name is a bare word: lower-case letters,
// digits and -; the first directory that has the binary wins. A plugin with a slash in it is
// a path, which is used as it is. Either way the binary and its directory must belong to root
// or to this user and be writable by nobody else: who can write them can run anything here.
func Find(plugin string, dirs []string) (string, error) {
	if strings.ContainsRune(plugin, '/') {
		return checked(plugin)
	}
	if err := checkName(plugin); err != nil {
		return "", err
	}
	binary := Prefix + plugin
	for _, dir := range dirs {
		path, err := checked(filepath.Join(dir, binary))
		if !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("plugin %q isn't installed: there is no %s in %s; put it into one of them, or name its directory in %s",
		plugin, binary, strings.Join(dirs, ", "), DirVariable)
}

func checkName(name string) error {
	for i, r := range name {
		if (r < 'a' || r > 'z') && (i == 0 || (r < '0' || r > '9') && r != '-') {
			return fmt.Errorf("plugin name %.80q: want a lower-case letter, then lower-case letters, digits and -", name)
		}
	}
	if name == "" || len(name) > 64 {
		return fmt.Errorf("plugin name %.80q: want 1 to 64 characters", name)
	}
	return nil
}

// checked returns path, absolute and without links, if it is safe to run.
func checked(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("plugin: %w", err)
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", fmt.Errorf("plugin: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("plugin: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("plugin %s: mode %s; want a regular file that may be executed", file, info.Mode())
	}
	dir, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return "", fmt.Errorf("plugin: %w", err)
	}
	for name, info := range map[string]fs.FileInfo{file: info, filepath.Dir(file): dir} {
		if info.Mode()&0o022 != 0 {
			return "", fmt.Errorf("plugin: %s may be written by others (mode %s); run: chmod go-w %s", name, info.Mode(), name)
		}
		if !trustedOwner(info) {
			return "", fmt.Errorf("plugin: %s belongs to another user; it must belong to root or to the user that runs anarchon", name)
		}
	}
	return file, nil
}
