package runner_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
	"github.com/anarchon-scheduler/anarchon/core/runner"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// coreLease is how long the lease of a core that runs as a process of its own lasts. It is
// extended all the time.
const coreLease = 5 * time.Second

// coreRole is a core that runs one script, its argument, and holds a lease.
func coreRole(args []string) error {
	l := newLease(coreLease, time.Second)
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			l.extend(coreLease)
		}
	}()
	spec := shell(args[0])
	spec.Output = os.Stdout
	_, err := runner.Run(context.Background(), spec, l)
	return err
}

// startCore starts a core whose script prints that many ids of processes, and returns it, the
// processes, and their shim as the last one.
func startCore(t *testing.T, script string, processes int) (core process, all []process) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "@core", script)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	core = open(t, strconv.Itoa(cmd.Process.Pid))
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	for range processes {
		if !lines.Scan() {
			t.Fatal("the core's output ended")
		}
		all = append(all, open(t, lines.Text()))
	}
	return core, append(all, all[0].parent())
}

// family is a script with all kinds of processes, which prints their four ids, its own first.
const family = `echo $$
	sleep 1000 & echo $!
	nohup sh -c 'echo $$; trap "" TERM; while :; do sleep 1000; done' &
	(setsid sh -c '(trap "" TERM HUP; sh -c "echo \$\$; while :; do sleep 1000; done" &) & exit' &)
	trap '' TERM
	while :; do sleep 1000; done`

const familySize = 4

// A core that is killed leaves nothing behind. Nobody waits for the end of the lease.
func TestCore_dies(t *testing.T) {
	var took []time.Duration
	for range trials {
		core, all := startCore(t, family, familySize)
		killed := boottime.Now()
		core.signal(unix.SIGKILL)
		var last time.Duration
		for _, p := range all {
			last = max(last, p.die())
		}
		if last-killed > coreLease/2 {
			t.Errorf("the tree was gone only %s after its core, as if the shim had waited for the lease", last-killed)
		}
		took = append(took, last-killed)
	}
	slices.Sort(took)
	t.Logf("the tree and its shim were gone after %s (median), %s (longest of %d)", took[len(took)/2], took[len(took)-1], len(took))
}

// When the core and the shim are killed, the kernel ends the command's own process.
func TestCore_and_shim_die(t *testing.T) {
	core, all := startCore(t, "echo $$; exec sleep 1000", 1)
	core.signal(unix.SIGSTOP) // else it would end the command in the shim's place
	all[1].signal(unix.SIGKILL)
	core.signal(unix.SIGKILL)
	all[0].die()
}

// A core that is frozen can't stop its work: the shim does so, and before the lease ends on
// the store. With the default lease that is 1.5 s later than what the shim is told.
func TestCore_freezes(t *testing.T) {
	const margin = 30 * time.Second / 20
	families := make([][]process, trials)
	frozen := make([]time.Duration, trials)
	for i := range trials { // all at the same time, since each takes as long as the lease
		var core process
		core, families[i] = startCore(t, family, familySize)
		core.signal(unix.SIGSTOP)
		frozen[i] = boottime.Now()
	}
	for i, all := range families {
		for _, p := range all {
			if at := p.die(); at >= frozen[i]+coreLease+margin {
				t.Errorf("a process of a frozen core's attempt ended %s after the lease", at-frozen[i]-coreLease)
			}
		}
	}
}

// A shim that is killed takes the command with it, and what is in its session.
func TestShim_is_killed(t *testing.T) {
	for range trials {
		a := start(t.Context(), t, shell(`echo $$; nohup sh -c 'echo $$; exec sleep 1000' & wait`), nil)
		main, child := open(t, strconv.Itoa(<-a.pid)), a.process()
		main.parent().signal(unix.SIGKILL)
		wantOutcome(t, a.end(), pluginapi.Failed, "shim was killed")
		wantDead(t, main, child)
	}
}

// What has left the session of a shim that is killed lives on. It has the output's pipe, and
// the end of the attempt doesn't wait for it.
func TestShim_is_killed_without_an_escapee(t *testing.T) {
	a := start(t.Context(), t, shell(`echo $$; setsid sh -c 'echo $$; exec sleep 1000' & wait`), nil)
	main, _ := a.process(), a.process()
	main.parent().signal(unix.SIGKILL)
	wantOutcome(t, a.end(), pluginapi.Failed, "shim was killed")
	wantDead(t, main)
}

// A shim that somebody has stopped doesn't keep its core from ending the attempt.
func TestShim_is_stopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spec := shell(family)
	spec.KillAfter = 0
	a := start(ctx, t, spec, nil)
	var all []process
	for range familySize {
		all = append(all, a.process())
	}
	all[0].parent().signal(unix.SIGSTOP)
	cancel()
	wantOutcome(t, a.end(), pluginapi.Failed, "shim was killed")
	wantDead(t, all...)
}
