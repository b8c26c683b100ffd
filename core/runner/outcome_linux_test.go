package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		outcome pluginapi.Outcome
		exit    int
		detail  string
	}{
		"success":         {"exit 0", pluginapi.Succeeded, 0, ""},
		"failure":         {"exit 3", pluginapi.Failed, 3, "exit status 3"},
		"highest status":  {"exit 255", pluginapi.Failed, 255, "exit status 255"},
		"killed":          {"kill -SEGV $$", pluginapi.Failed, 139, "killed by SIGSEGV"},
		"real-time":       {"kill -40 $$", pluginapi.Failed, 168, "killed by signal 40"},
		"status like 9":   {"exit 137", pluginapi.Failed, 137, "exit status 137"},
		"a child's end":   {"sh -c 'exit 5' & sh -c 'exit 6'; wait; exit 0", pluginapi.Succeeded, 0, ""},
		"an orphan's end": {"(sh -c 'exit 5' & ) & exit 4", pluginapi.Failed, 4, "exit status 4"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, shell(c.script))
			wantOutcome(t, got, c.outcome, c.detail)
			if got.ExitCode != c.exit {
				t.Errorf("got exit code %d, want %d", got.ExitCode, c.exit)
			}
		})
	}
}

// What is wrong with a command is a failed attempt with a reason, never an error.
func TestExec(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	spec := func(command ...string) runner.Spec { return runner.Spec{Command: command} }
	with := func(s runner.Spec, name, value string) runner.Spec {
		s.Env = map[string]string{name: value}
		return s
	}
	for name, c := range map[string]struct {
		spec   runner.Spec
		detail string
	}{
		"missing program":        {spec("anarchon-no-such-program"), "anarchon-no-such-program isn't in PATH"},
		"missing path":           {spec("/no/such/program"), "/no/such/program"},
		"not executable":         {spec(write("plain", "#!/bin/sh\n", 0o600)), "isn't executable (mode 0600)"},
		"directory":              {spec(dir), "is a directory"},
		"device":                 {spec("/dev/null"), "isn't a file"},
		"no interpreter named":   {spec(write("work", "echo hello\n", 0o700)), "a first line such as #!/bin/sh"},
		"interpreter missing":    {spec(write("lost", "#!/no/such/shell\n", 0o700)), "the interpreter that it names"},
		"working directory":      {runner.Spec{Command: []string{"true"}, Dir: "/no/such/dir"}, "the working directory /no/such/dir"},
		"only in the directory":  {runner.Spec{Command: []string{"work"}, Dir: dir}, "isn't in PATH"},
		"relative PATH":          {with(runner.Spec{Command: []string{"work"}, Dir: dir}, "PATH", "."), "isn't in PATH (.)"},
		"arguments too long":     {spec("echo", strings.Repeat("x", 3<<20)), "larger than the system takes"},
		"no command":             {spec(), "the command is empty"},
		"empty program":          {spec(""), "the command is empty"},
		"NUL in an argument":     {spec("echo", "a\x00b"), "NUL byte"},
		"NUL in a value":         {with(spec("true"), "SECRET", "hush\x00"), "the value of SECRET has a NUL byte"},
		"name with =":            {with(spec("true"), "A=B", ""), `"A=B" can't be a variable's name`},
		"empty name":             {with(spec("true"), "", "x"), `"" can't be a variable's name`},
		"name begins with digit": {with(spec("true"), "1A", "x"), `"1A" can't be a variable's name`},
		"loader's variable":      {with(spec("true"), "LD_PRELOAD", "/tmp/x.so"), "LD_PRELOAD would change which code"},
		"anarchon's variable":    {with(spec("true"), "ANARCHON_FENCE", "9.9"), "ANARCHON_FENCE is for the variables"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			got := run(t, c.spec)
			wantOutcome(t, got, pluginapi.Failed, c.detail)
			if !strings.HasPrefix(got.Detail, "exec: ") || strings.Contains(got.Detail, "hush") {
				t.Errorf("want a reason that begins with exec: and shows no value; got %q", got.Detail)
			}
		})
	}
}

func TestExec_a_path_is_relative_to_the_directory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte("#!/bin/sh\necho \"$0 $PWD\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := run(t, runner.Spec{Command: []string{"./script"}, Dir: dir})
	wantOutcome(t, got, pluginapi.Succeeded, "")
	if want := filepath.Join(dir, "script") + " " + dir + "\n"; string(got.Output.Head) != want {
		t.Errorf("got %q, want %q", got.Output.Head, want)
	}
}

// The context's cause tells how a stopped attempt is counted.
func TestContext(t *testing.T) {
	stopping := errors.New("the instance is being stopped")
	for name, c := range map[string]struct {
		script  string
		cause   error
		outcome pluginapi.Outcome
		detail  string
	}{
		"stopped":                {"", stopping, pluginapi.Interrupted, "stopped: the instance is being stopped; killed by SIGTERM"},
		"cancelled":              {"", runner.ErrCancelled, pluginapi.Cancelled, "stopped: the run was cancelled; killed by SIGTERM"},
		"stopped with a status":  {"trap 'exit 7' TERM;", stopping, pluginapi.Interrupted, "exit status 7"},
		"had done its work":      {"trap 'exit 0' TERM;", stopping, pluginapi.Succeeded, ""},
		"cancelled, work's done": {"trap 'exit 0' TERM;", runner.ErrCancelled, pluginapi.Succeeded, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			a := start(ctx, t, shell(c.script+` echo ready; sleep 1000 & wait`), nil)
			a.line()
			cancel(c.cause)
			wantOutcome(t, a.end(), c.outcome, c.detail)
		})
	}
	t.Run("not_started", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopping)
		spec := shell("exit 0")
		spec.Started = func(int) { t.Error("the command was started") }
		got, err := runner.Run(ctx, spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, got, pluginapi.Interrupted, "not started: the instance is being stopped")
	})
}
