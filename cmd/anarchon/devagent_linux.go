package main

import (
	"runtime"
	"syscall"
)

// dieWithDev has the kernel drain an agent when `anarchon dev` dies by kill -9. The signal is
// sent when the thread that started the agent ends: the caller stays on its thread for ever,
// and is the main goroutine, whose thread ends with the process.
func dieWithDev(attr *syscall.SysProcAttr) {
	runtime.LockOSThread()
	attr.Pdeathsig = syscall.SIGTERM
}
