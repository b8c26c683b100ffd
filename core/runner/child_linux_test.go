package runner_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// output runs a script that succeeds and returns what it printed.
func output(t *testing.T, script string) string {
	t.Helper()
	got := run(t, shell(script))
	wantOutcome(t, got, pluginapi.Succeeded, "")
	return strings.TrimSuffix(string(got.Output.Head), "\n")
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DATABASE_PASSWORD", "hush")
	t.Setenv("HOME", "/home/somebody")
	spec := shell("")
	spec.Command = []string{"env"}
	spec.Run = job.Run{Job: "backup:eu", Slot: 1764639000250}
	spec.Attempt = 2
	spec.Env = map[string]string{"TZ": "Europe/Berlin", "GREETING": "good  morning\nto = all", "EMPTY": ""}
	got := strings.Split(strings.TrimSuffix(string(run(t, spec).Output.Head), "\n"), "\n")
	slices.Sort(got)
	want := []string{
		"ANARCHON_ATTEMPT=2",
		"ANARCHON_DEADLINE=",
		"ANARCHON_FENCE=1764639000250.2",
		"ANARCHON_INSTANCE=here",
		"ANARCHON_JOB=backup:eu",
		"ANARCHON_RUN=backup:eu@20251202T013000.250Z",
		"ANARCHON_SCHEDULED_AT=2025-12-02T01:30:00.25Z",
		"ANARCHON_SLOT=1764639000250",
		"ANARCHON_TRIGGER=schedule",
		"ANARCHON_TRY=1",
		"EMPTY=",
		"GREETING=good  morning",
		"HOME=/home/somebody",
		"LANG=C.UTF-8",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"SHELL=/bin/sh",
		"TZ=Europe/Berlin",
		"to = all",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEnvironment_deadline(t *testing.T) {
	spec := shell(`echo "$ANARCHON_DEADLINE"`)
	spec.Timeout = hangs
	before := time.Now()
	text := strings.TrimSpace(string(run(t, spec).Output.Head))
	got, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	if got.Before(before.Add(hangs)) || got.After(time.Now().Add(hangs)) || !strings.HasSuffix(text, "Z") {
		t.Errorf("got %s, want UTC, one minute after the start at about %s", text, before)
	}
}

// Signals 32 and 33 are the C library's own: its posix_spawn has them ignored in whatever it
// starts, make's children for one, and no program can change that for itself.
func TestChildIgnoresNoSignal(t *testing.T) {
	text := output(t, "grep SigIgn /proc/self/status")
	ignored, err := strconv.ParseUint(strings.TrimPrefix(text, "SigIgn:\t"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	if ignored &^= 1<<31 | 1<<32; ignored != 0 {
		t.Errorf("the signals %#x are ignored (bit 0 is signal 1)", ignored)
	}
}

func TestChild(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"stdin is /dev/null":     {"readlink /proc/self/fd/0", "/dev/null"},
		"umask":                  {"umask", "0077"},
		"no new privileges":      {"grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1"},
		"no blocked signals":     {"grep SigBlk /proc/self/status", "SigBlk:\t0000000000000000"},
		"a group of its own":     {`[ "$(cut -d' ' -f5 /proc/$$/stat)" = $$ ] && echo yes`, "yes"},
		"both outputs, in order": {"echo out; echo err >&2; echo out", "out\nerr\nout"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if got := output(t, c.script); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("a_session_of_its_own", func(t *testing.T) {
		own, err := unix.Getsid(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := output(t, "cut -d' ' -f6 /proc/$$/stat"); got == strconv.Itoa(own) {
			t.Errorf("the command is in the core's session, %s", got)
		}
	})
	t.Run("the_limit_of_open_files_that_the_core_was_given", func(t *testing.T) {
		want, err := exec.Command("sh", "-c", "ulimit -n").Output() // Go raises its own
		if err != nil {
			t.Fatal(err)
		}
		if got := output(t, "ulimit -n"); got != strings.TrimSpace(string(want)) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("no_open_files", func(t *testing.T) {
		fd, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0) // as whoever starts the core may do
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		if got := output(t, "ls /proc/self/fd"); got != "0\n1\n2\n3" { // 3 is that of ls
			t.Errorf("the command has the descriptors %q", strings.Fields(got))
		}
	})
}

// A secret is given to the command, and shows neither in the shim's arguments nor in its
// environment.
func TestShim_shows_no_secret(t *testing.T) {
	gate := newGate(t)
	spec := shell(`echo $$; read x <"$GATE"`)
	spec.Env = map[string]string{"GATE": string(gate), "PASSWORD": "hush"}
	a := start(t.Context(), t, spec, nil)
	shim := a.process().parent()
	for _, file := range []string{"cmdline", "environ"} {
		got, err := os.ReadFile("/proc/" + strconv.Itoa(shim.pid) + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(got), "hush") {
			t.Errorf("the shim's %s has the secret: %q", file, got)
		}
		if file == "cmdline" && string(got) != "anarchon-shim\x00"+spec.Run.String()+"\x00" {
			t.Errorf("got the command line %q, want the shim's name and the run's", got)
		}
	}
	gate.open(t)
	wantOutcome(t, a.end(), pluginapi.Succeeded, "")
}

// Attempts leave no file open in the core.
func TestRun_leaves_no_descriptor(t *testing.T) {
	run(t, shell("true")) // Go opens some for good
	count := func() int {
		t.Helper()
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	for range trials {
		run(t, shell("echo hello; (setsid sleep 1000 &)"))
		run(t, shell("exit 1"))
	}
	spec := shell("")
	spec.Command = []string{"/no/such/program"}
	run(t, spec)
	if after := count(); after != before {
		t.Errorf("got %d descriptors after the attempts, want %d", after, before)
	}
}
