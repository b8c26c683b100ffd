package storetest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/storetest"
)

const secret = "hunter2-and-more"

// buildPlugin builds the broken plugin once for a test.
func buildPlugin(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "brokenplugin")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./internal/brokenplugin")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatalf("build the plugin: %v", err)
	}
	return path
}

// binaryTarget is the plugin with a data file of its own, and with the fault that the
// settings name.
func binaryTarget(t *testing.T, binary, fault string) storetest.Target {
	t.Helper()
	settings, err := json.Marshal(map[string]string{
		"path": filepath.Join(t.TempDir(), "journal"), "fault": fault, "password": secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Target{
		Binary: binary, Settings: settings, Secret: secret,
		Bad: []storetest.BadSettings{
			{Name: "no path", Settings: []byte(`{"path": ""}`), Path: pluginapi.Attr("path")},
		},
	}
}

func TestBinaryConforms(t *testing.T) {
	storetest.Run(t, binaryTarget(t, buildPlugin(t), ""))
}

func TestSuiteFindsEveryFaultOfABinary(t *testing.T) {
	if testing.Short() {
		t.Skip("six executions with real processes: some ten seconds each")
	}
	binary := buildPlugin(t)
	for fault, want := range map[string]string{
		"plain_log":       "L01",
		"loud_log":        "L02",
		"leaks_secret":    "C09",
		"dies_of_sigterm": "F06",
		"late_for_all":    "S83",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			report := storetest.Execute(t.Context(), binaryTarget(t, binary, fault), storetest.Options{})
			expectFailures(t, report, want)
		})
	}
	t.Run("noise", func(t *testing.T) { // by the program's name: it is there before the settings
		t.Parallel()
		link := filepath.Join(t.TempDir(), "brokenplugin-noise")
		if err := os.Link(binary, link); err != nil {
			t.Fatal(err)
		}
		report := storetest.Execute(t.Context(), binaryTarget(t, link, ""), storetest.Options{})
		expectFailures(t, report, "H03")
	})
}
