//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A store block's plugin that can't be used: the agent says which file and why, soon, and ends.
func TestUnusablePluginIsNamedAndEndsTheAgent(t *testing.T) {
	scripts := map[string]struct {
		text string // a script; "" means that there is no file
		mode os.FileMode
		want []string // all must stand in the error
	}{
		"missing":         {"", 0, []string{"anarchon-plugin-bad"}},
		"not_executable":  {"#!/bin/sh\n", 0o644, []string{"anarchon-plugin-bad", "execut"}},
		"text_file":       {"just text\n", 0o755, []string{"anarchon-plugin-bad"}},
		"other_program":   {"#!/bin/sh\necho usage: something else >&2\nexit 1\n", 0o755, []string{"anarchon-plugin-bad", "something else"}},
		"exits_at_once":   {"#!/bin/sh\nexit 0\n", 0o755, []string{"anarchon-plugin-bad"}},
		"garbage":         {"#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' 'x'\necho\nexec sleep 60\n", 0o755, []string{"anarchon-plugin-bad"}},
		"newer_protocol":  {"#!/bin/sh\necho '1|9|unix|/nowhere|grpc|'\nexec sleep 60\n", 0o755, []string{"anarchon-plugin-bad", "protocol", "9"}},
		"other_address":   {"#!/bin/sh\necho '1|1|tcp|10.0.0.1:443|grpc|'\nexec sleep 60\n", 0o755, []string{"anarchon-plugin-bad", "10.0.0.1:443"}},
		"foreign_socket":  {"#!/bin/sh\necho '1|1|unix|/run/other.sock|grpc|'\nexec sleep 60\n", 0o755, []string{"anarchon-plugin-bad", "/run/other.sock"}},
		"hangs":           {"#!/bin/sh\nexec sleep 60\n", 0o755, []string{"anarchon-plugin-bad", "10s"}},
		"odd_stderr_line": {"#!/bin/sh\necho '{\"@level\":3}' >&2\nexit 1\n", 0o755, []string{"anarchon-plugin-bad"}},
		"world_writable":  {"#!/bin/sh\n", 0o777, []string{"anarchon-plugin-bad", "chmod go-w"}},
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "anarchon-plugin-bad")
			if script.text != "" {
				if err := os.WriteFile(path, []byte(script.text), script.mode); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, script.mode); err != nil { // not umask's
					t.Fatal(err)
				}
			}
			config := filepath.Join(t.TempDir(), "jobs.hcl")
			text := "store \"bad\" {}\njob \"j\" {\n  every = \"1s\"\n  exec {\n    command = [\"true\"]\n  }\n}\n"
			if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(bin(t, "anarchon"), "agent", "--config", config, "--name", "i1", "--data-dir", t.TempDir())
			cmd.Env = append(os.Environ(), "ANARCHON_PLUGIN_DIR="+dir)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			began := time.Now()
			err := cmd.Run()
			if err == nil || cmd.ProcessState.ExitCode() <= 0 {
				t.Fatalf("the agent ended with %v; want an exit code above 0\n%s", err, out.String())
			}
			for _, want := range script.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in what the agent said:\n%s", want, out.String())
				}
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s to say so", took)
			}
			if strings.Contains(out.String(), "panic") || strings.Contains(out.String(), "goroutine ") {
				t.Errorf("a panic:\n%s", out.String())
			}
		})
	}
}
