//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestKilledDevLeavesNoAgent(t *testing.T) {
	c := newCluster(t, everySecond)
	cmd := exec.Command(c.core, "dev", "--config", c.config, "--instances", "2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	t.Cleanup(func() {
		if !killed {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	c.witness.waitStart(30*time.Second, func(line) bool { return true })
	family := children(cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	killed = true
	until(t, 20*time.Second, func() error {
		for _, pid := range family {
			if alive(pid) {
				return fmt.Errorf("process %d lives on: %s", pid, cmdline(pid))
			}
		}
		return nil
	})
}

// An instance whose log nobody reads any more goes on, and drains when it is told to.
func TestBrokenLogPipeDoesNotEndTheAgent(t *testing.T) {
	c := newCluster(t, everySecond)
	cmd := exec.Command(c.core, "agent", "--config", c.config, "--name", "i1", "--data-dir", c.dir, "--log-level", "debug")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	first := c.witness.waitStart(30*time.Second, func(line) bool { return true })
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	c.witness.waitStart(20*time.Second, func(l line) bool { return l.slot >= first.slot+3000 })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want exit code 0", err)
	}
}
