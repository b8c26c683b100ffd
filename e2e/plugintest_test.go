//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPluginTestPassesOnSQLite(t *testing.T) {
	config := filepath.Join(t.TempDir(), "store.hcl")
	db := filepath.Join(t.TempDir(), "suite.db")
	if err := os.WriteFile(config, []byte("store \"sqlite\" {\n  path = \""+db+"\"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := command(t, "plugin", "test", bin(t, "anarchon-plugin-sqlite"), "--config", config)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	t.Log(lastLine(r.out))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Every broken store must fail, so that passing means something. The suite's own tests tell
// which checks must find which fault; here it is the command that must say so. Four faults
// can't be seen from outside a process, and are found by the suite in process only: a store
// that ignores contexts (over gRPC the caller is answered all the same), one that goes by the
// clock of its process (all processes here have the same), and two that need its insides.
func TestPluginTestFailsOnEachBrokenStore(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "brokenplugin")
	build := exec.Command("go", "build", "-o", broken, "../pluginapi/storetest/internal/brokenplugin")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, fault := range []string{
		"two_winners", "forgets_tokens", "fences_nobody", "takes_over_twice", "frees_ended_runs", "other_order",
		"late_for_all", "overlapping_takeover", "last_outcome_wins",
		"noise", "plain_log", "loud_log", "leaks_secret", "dies_of_sigterm",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel() // all together: the checks mostly wait
			const password = "hunter2-and-more"
			binary, block := broken, fmt.Sprintf("fault = %q", fault)
			if fault == "noise" { // it is there before the settings are known: by the program's name
				binary, block = filepath.Join(t.TempDir(), "brokenplugin-noise"), ""
				if err := os.Link(broken, binary); err != nil {
					t.Fatal(err)
				}
			}
			config := filepath.Join(t.TempDir(), "store.hcl")
			text := fmt.Sprintf("store \"broken\" {\n  path = %q\n  password = %q\n  %s\n}\n", filepath.Join(t.TempDir(), "journal"), password, block)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := command(t, "plugin", "test", binary, "--config", config, "--secret", password, "--json")
			if r.code != 1 {
				t.Fatalf("exit %d, want 1\n%s%s", r.code, r.out, r.err)
			}
			var report struct {
				Failed  int `json:"failed"`
				Results []struct {
					ID     string `json:"id"`
					Status string `json:"status"`
				} `json:"results"`
			}
			if err := json.Unmarshal([]byte(r.out), &report); err != nil || report.Failed == 0 {
				t.Fatalf("the report says %d failures (%v)", report.Failed, err)
			}
			var failed []string
			for _, result := range report.Results {
				if result.Status == "fail" {
					failed = append(failed, result.ID)
				}
			}
			t.Logf("found by %v", failed)
		})
	}
}
