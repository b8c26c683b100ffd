//go:build !linux

package main

import "syscall"

// dieWithDev does nothing: this system can't tell a process of its parent's death.
func dieWithDev(*syscall.SysProcAttr) {}
