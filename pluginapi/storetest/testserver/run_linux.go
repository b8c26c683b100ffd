package testserver

import (
	"os/exec"
	"runtime"
	"syscall"
)

// attributes puts a server into a process group of its own, where no signal to the test's group
// reaches it, and has the kernel kill it when the test's process dies.
func attributes(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: who}
}

// run starts cmd, says so, and closes done when it has ended. The kernel's "parent" is the
// starting thread, which must therefore live as long as the server.
func run(cmd *exec.Cmd, started chan<- error, done chan<- struct{}) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	started <- nil
	_ = cmd.Wait() // the caller reads the state
	close(done)
	return nil
}
