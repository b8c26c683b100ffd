//go:build !linux

package testserver

import (
	"os/exec"
	"syscall"
)

// attributes puts a server into a process group of its own, where no signal to the test's group
// reaches it.
func attributes(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: who}
}

// run starts cmd, says so, and closes done when it has ended.
func run(cmd *exec.Cmd, started chan<- error, done chan<- struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	started <- nil
	_ = cmd.Wait() // the caller reads the state
	close(done)
	return nil
}
