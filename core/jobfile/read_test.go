package jobfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/jobfile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantOnly fails unless there is exactly one diagnostic, with the code.
func wantOnly(t *testing.T, ds jobfile.Diagnostics, code jobfile.Code) {
	t.Helper()
	if len(ds) != 1 || ds[0].Code != code {
		t.Errorf("got %v, want only %s", ds, code)
	}
}

// TestLoad_only_regular_files: pipes, devices and things that aren't there are refused
// without waiting for them.
func TestLoad_only_regular_files(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.hcl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	for _, path := range []string{pipe, "/dev/zero", dir, filepath.Join(dir, "missing.hcl")} {
		_, ds := load(path)
		wantOnly(t, ds, jobfile.Unreadable)
	}
	if err := os.Mkdir(filepath.Join(dir, "directory.hcl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ds := load(dir); len(ds) != 2 {
		t.Errorf("got %v, want an error for the pipe and one for the directory", ds)
	}
}

// TestLoad_too_large: a file of more than 1 MiB isn't read to its end.
func TestLoad_too_large(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hcl")
	write(t, path, strings.Repeat("#", jobfile.MaxFile))
	if _, ds := load(path); ds.HasErrors() {
		t.Errorf("1 MiB: got %v", ds)
	}
	write(t, path, strings.Repeat("#", jobfile.MaxFile+1))
	_, ds := load(path)
	wantOnly(t, ds, jobfile.Unreadable)
}

// TestLoad_ignores_other_files: hidden files and other names are none of ours.
func TestLoad_ignores_other_files(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".hidden.hcl", "a.hcl.bak", "README", "a.hcl~"} {
		write(t, filepath.Join(dir, name), "not HCL at all {{{")
	}
	c, ds := load(dir)
	wantOnly(t, ds, jobfile.NoJobs)
	if len(c.Files) > 0 {
		t.Errorf("got files %q, want none", c.Files)
	}
}

// TestLoad_symbolic_link: a link to a file is followed: that is how config maps are mounted.
func TestLoad_symbolic_link(t *testing.T) {
	path, err := filepath.Abs("testdata/valid/minimal.hcl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(path, filepath.Join(dir, "a.hcl")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if c, ds := load(dir); len(ds) > 0 || len(c.Jobs) != 1 {
		t.Errorf("got %d jobs, %v", len(c.Jobs), ds)
	}
}

// TestLoad_open_to_all: a privileged process doesn't trust what everybody may write.
func TestLoad_open_to_all(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.hcl")
	write(t, path, "# nothing\n")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, ds := load(dir); ds.HasErrors() {
		t.Errorf("unprivileged: got %v", ds)
	}
	_, ds := jobfile.Load(jobfile.Options{Path: dir, Privileged: true})
	if !ds.HasErrors() || ds[0].Code != jobfile.OpenToAll || !strings.Contains(ds[0].Fix, "chmod o-w") {
		t.Errorf("got %v, want %s with the way out", ds, jobfile.OpenToAll)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, ds := jobfile.Load(jobfile.Options{Path: dir, Privileged: true}); !ds.HasErrors() {
		t.Error("a directory that everyone may write is trusted")
	}
}

// TestLoad_text: what isn't plain text, or hides what it says, is refused at its place.
func TestLoad_text(t *testing.T) {
	for name, text := range map[string]string{
		"invalid UTF-8":      "# x\n# \xff",
		"cut UTF-8":          "# x\n# \xe2\x82",
		"NUL":                "# x\n# \x00",
		"escape":             "# x\n# \x1b[31m",
		"C1 control":         "# x\n# \u0085",
		"right to left":      "# x\n# \u202e",
		"isolate":            "# x\n# \u2066",
		"zero width":         "# x\n# \u200b",
		"BOM in the middle":  "# x\n# \ufeff",
		"surrogate as bytes": "# x\n# \xed\xa0\x80",
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := loadText(t, text)
			wantOnly(t, ds, jobfile.BadText)
			if len(ds) == 1 && (ds[0].Line != 2 || ds[0].Column != 3) {
				t.Errorf("got %s, want line 2, column 3", ds[0])
			}
			var out bytes.Buffer
			if err := ds.Render(&out, jobfile.Style{}); err != nil || strings.ContainsAny(out.String(), "\x00\x1b\u202e\u2066\u200b") {
				t.Errorf("the character reaches the terminal: %q, %v", out.String(), err)
			}
		})
	}
	if _, ds := loadText(t, "# Grüße, 世界, 👍\n"); ds.HasErrors() {
		t.Errorf("other languages: got %v", ds)
	}
}

// TestLoad_too_many_problems: a hostile file can't make more diagnostics than anybody reads.
func TestLoad_too_many_problems(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "a%d = 1\n", i)
	}
	_, ds := loadText(t, text.String())
	if len(ds) != 1001 || ds[1000].Code != jobfile.TooMany {
		t.Errorf("got %d diagnostics, want 1000 and one that counts the rest", len(ds))
	}
}
