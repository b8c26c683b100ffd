package pluginserver_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginserver"
)

// asPlugin is the variable that makes this test binary a plugin.
const asPlugin = "PLUGINSERVER_TEST"

var options = pluginserver.Options{
	Name: "test", Version: "1.2.3",
	Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{{Name: "file", Type: pluginapi.String, Description: "A file."}}},
	New:    func(*slog.Logger) pluginapi.Store { return memstore.New(memstore.Options{}) },
}

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(pluginserver.Serve(options))
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), asPlugin+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestStartedByHand(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"--describe", "x"}} {
		stdout, stderr, code := start(t, args...)
		if code != 64 || stdout != "" || !strings.Contains(stderr, "the test store plugin of anarchon, version 1.2.3") {
			t.Errorf("%q: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

func TestDescribe(t *testing.T) {
	stdout, stderr, code := start(t, "--describe")
	var got struct {
		Name, Version string
		Protocols     []int
		MTLS          bool
		Schema        pluginapi.Schema
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if code != 0 || stderr != "" || got.Name != "test" || got.Version != "1.2.3" || !got.MTLS ||
		!reflect.DeepEqual(got.Protocols, []int{1}) || !reflect.DeepEqual(got.Schema, options.Schema) {
		t.Errorf("exit code %d, %q, %+v", code, stderr, got)
	}
}
