package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

func TestMain(m *testing.M) {
	if runner.IsShim(os.Args) {
		os.Exit(runner.ShimMain())
	}
	testscript.Main(withPlugin{m}, map[string]func(){"anarchon": main})
}

// withPlugin runs tests that find the plugin of the SQLite store.
type withPlugin struct{ *testing.M }

func (m withPlugin) Run() int {
	dir, err := os.MkdirTemp("", "anarchon-plugins-")
	if err == nil {
		defer removeAll(dir)
		err = buildPlugin(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.M.Run()
}

func buildPlugin(dir string) error {
	const name = storeplugin.Prefix + "sqlite"
	build := exec.Command("go", "build", "-ldflags", "-X main.version=v0.1.0-test", "-o", filepath.Join(dir, name), "./cmd/"+name)
	build.Dir = filepath.FromSlash("../../plugins/sqlite")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	return os.Setenv(storeplugin.DirVariable, dir)
}

// TestScripts runs the scripts in testdata/script. They have two commands of their own:
//
//	exits CODE COMMAND...    the command ends with this exit code
//	until PATTERN COMMAND... the command is run until its output matches, for at most a minute
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv(storeplugin.DirVariable, os.Getenv(storeplugin.DirVariable))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "until": until},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("got exit code %d; want %d", got, want)
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND...")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if ts.Exec(args[1], args[2:]...) == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("the output didn't match %q within a minute", pattern)
}
