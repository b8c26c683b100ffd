package runner_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// What a command leaves behind is dead when its attempt has ended, however it got away.
func TestTree(t *testing.T) {
	for name, c := range map[string]struct {
		script    string // prints the ids of processes
		processes int
	}{
		"child":            {`sleep 1000 & echo $!`, 1},
		"nohup":            {`nohup sh -c 'echo $$; exec sleep 1000' & `, 1},
		"setsid":           {`setsid sh -c 'echo $$; exec sleep 1000' &`, 1},
		"double fork":      {`(setsid sh -c '(sh -c "echo \$\$; exec sleep 1000" &) & exit' &)`, 1},
		"deaf":             {`setsid sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 1000; done' &`, 1},
		"stopped":          {`setsid sh -c 'echo $$; kill -STOP $$' &`, 1},
		"closes its files": {`setsid sh -c 'echo $$; exec sleep 1000 <&- >&- 2>&-' &`, 1},
		"deep":             {`sh -c 'echo $$; sh -c "echo \$\$; setsid sleep 1000 & echo \$!; wait" & wait' &`, 3},
		"many":             {`for i in $(seq 50); do setsid sleep 1000 & echo $!; done`, 50},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for range trials {
				gate := newGate(t)
				spec := shell(c.script + "\n" + `read x <"$GATE"; exit 4`)
				spec.Env = gate.env()
				a := start(t.Context(), t, spec, nil)
				var all []process
				for range c.processes {
					all = append(all, a.process())
				}
				gate.open(t)
				wantOutcome(t, a.end(), pluginapi.Failed, "exit status 4")
				wantDead(t, all...)
			}
		})
	}
}

// A process that is another one at each look, since it forks and ends all the time, is caught.
func TestTree_moving_target(t *testing.T) {
	for name, next := range map[string]string{
		"in_the_group":      `sh -c "$NEXT" &`,
		"in_other_sessions": `setsid sh -c "$NEXT" &`,
	} {
		t.Run(name, func(t *testing.T) {
			for range trials {
				gate := newGate(t)
				spec := shell(`sh -c "$NEXT"; echo up; read x <"$GATE"`)
				spec.Env = gate.env()
				spec.Env["NEXT"] = next
				a := start(t.Context(), t, spec, nil)
				a.line()
				gate.open(t)
				wantOutcome(t, a.end(), pluginapi.Succeeded, "")
			}
		})
	}
}

// bombUser has no other processes, so that its limit is the bomb's.
const bombUser, bombLimit = 54321, 100

// bombRole starts a script as a user that may have few processes: root may have any number.
func bombRole(args []string) error {
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: bombLimit, Max: bombLimit}),
		unix.Setresgid(bombUser, bombUser, bombUser), unix.Setresuid(bombUser, bombUser, bombUser),
		unix.Exec("/bin/sh", append([]string{"sh"}, args...), os.Environ()))
}

func TestTree_fork_bomb(t *testing.T) {
	if os.Getuid() != 0 {
		if os.Getenv("ANARCHON_TEST_REQUIRE") == "1" {
			t.Fatal("only root can start a bomb as another user")
		}
		t.Skip("only root can start a bomb as another user")
	}
	for name, bomb := range map[string]string{
		"in_the_group":      `bomb() { while :; do bomb & done; }; bomb`,
		"in_other_sessions": `while :; do setsid sh -c "$BOMB" & done`,
	} {
		t.Run(name, func(t *testing.T) {
			spec := shell("")
			spec.Command = []string{"/proc/self/exe", "@bomb", "-c", `sh -c "$BOMB" 2>/dev/null & exec sleep 1000`}
			spec.Env = map[string]string{"BOMB": bomb}
			spec.Timeout, spec.KillAfter = 300*time.Millisecond, 100*time.Millisecond
			wantOutcome(t, run(t, spec), pluginapi.TimedOut, "killed by SIGTERM")
			if left := processesOf(t, bombUser); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

func processesOf(t *testing.T, user uint32) (found []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		var stat unix.Stat_t
		if err := unix.Stat("/proc/"+entry.Name(), &stat); err == nil && stat.Uid == user {
			found = append(found, entry.Name())
		}
	}
	return found
}
