//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What `make demo` shows: three instances share the slots of examples/quickstart, and the run
// of the one that is killed is taken over. It ends by itself and leaves nothing.
func TestQuickstart(t *testing.T) {
	if r := command(t, "validate", "--config", "../examples/quickstart"); r.code != 0 {
		t.Fatalf("validate: exit %d: %s", r.code, r.err)
	}
	scratch, err := os.MkdirTemp("", "e2e") // short, as a socket's path must be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	cmd := exec.Command(bin(t, "anarchon"), "dev", "--config", "../examples/quickstart", "--for", "20s", "--kill", "2s")
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch, "XDG_RUNTIME_DIR="+scratch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"kill -9", "won (attempt 2)", "succeeded (attempt 2)", "(killed)"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	left, err := filepath.Glob(filepath.Join(scratch, "anarchon-dev-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
