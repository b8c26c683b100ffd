package storeplugin_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
)

// put writes an empty program of that mode and returns its path.
func put(t *testing.T, dir, name string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

// private returns a directory that only this user may write.
func private(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFindTakesTheFirstDirectory(t *testing.T) {
	one, two, three := private(t), private(t), private(t)
	want := put(t, two, "anarchon-plugin-redis", 0o755)
	put(t, three, "anarchon-plugin-redis", 0o755)
	got, err := storeplugin.Find("redis", []string{one, two, three})
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestFindFollowsLinks(t *testing.T) {
	dir, bin := private(t), private(t)
	want := put(t, bin, "redis-1.2", 0o755)
	if err := os.Symlink(want, filepath.Join(dir, "anarchon-plugin-redis")); err != nil {
		t.Fatal(err)
	}
	got, err := storeplugin.Find("redis", []string{dir})
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestFindTakesAPathAsItIs(t *testing.T) {
	want := put(t, private(t), "my-store", 0o755)
	got, err := storeplugin.Find(want, nil)
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestFindTellsWhereItLooked(t *testing.T) {
	one, two := private(t), private(t)
	_, err := storeplugin.Find("redis", []string{one, two})
	for _, part := range []string{"anarchon-plugin-redis", one, two, storeplugin.DirVariable} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want it to name %s", err, part)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		plugin string
		place  func(t *testing.T, dir string)
	}{
		"way_out_of_the_directory": {"..", nil},
		"empty_name":               {"", nil},
		"upper_case":               {"Redis", nil},
		"space":                    {"re dis", nil},
		"null_byte":                {"redis\x00", nil},
		"leading_dash":             {"-redis", nil},
		"leading_digit":            {"1redis", nil},
		"long_name":                {strings.Repeat("a", 65), nil},
		"not_executable":           {"redis", func(t *testing.T, dir string) { t.Helper(); put(t, dir, "anarchon-plugin-redis", 0o644) }},
		"writable_by_group":        {"redis", func(t *testing.T, dir string) { t.Helper(); put(t, dir, "anarchon-plugin-redis", 0o775) }},
		"writable_by_all":          {"redis", func(t *testing.T, dir string) { t.Helper(); put(t, dir, "anarchon-plugin-redis", 0o757) }},
		"directory_of_that_name": {"redis", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Mkdir(filepath.Join(dir, "anarchon-plugin-redis"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		"directory_writable_by_all": {"redis", func(t *testing.T, dir string) {
			t.Helper()
			put(t, dir, "anarchon-plugin-redis", 0o755)
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}},
		"owner_is_somebody_else": {"redis", func(t *testing.T, dir string) {
			t.Helper()
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			if err := os.Chown(put(t, dir, "anarchon-plugin-redis", 0o755), 12345, -1); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := private(t)
			if c.place != nil {
				c.place(t, dir)
			}
			if path, err := storeplugin.Find(c.plugin, []string{dir}); err == nil {
				t.Errorf("got %q, want an error", path)
			}
		})
	}
}

// An unsafe binary isn't passed over for one in a later directory: that would hide it.
func TestFindStopsAtAnUnsafeBinary(t *testing.T) {
	one, two := private(t), private(t)
	put(t, one, "anarchon-plugin-redis", 0o757)
	put(t, two, "anarchon-plugin-redis", 0o755)
	if path, err := storeplugin.Find("redis", []string{one, two}); err == nil {
		t.Errorf("got %q, want an error about %s", path, one)
	}
}

func TestDirs(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"nothing_set":       {nil, nil},
		"home":              {map[string]string{"HOME": "/h"}, []string{"/h/.local/share/anarchon/plugins"}},
		"data_home":         {map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d"}, []string{"/d/anarchon/plugins"}},
		"plugin_dir_before": {map[string]string{"HOME": "/h", "ANARCHON_PLUGIN_DIR": "/p"}, []string{"/p", "/h/.local/share/anarchon/plugins"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]string{filepath.Dir(program)}, c.want...)
			if got := storeplugin.Dirs(func(key string) string { return c.env[key] }); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
