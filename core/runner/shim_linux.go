package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
)

// shimName is argv[0] of a shim; argv[1] is the run's name, for who looks at a process list.
const shimName = "anarchon-shim"

// The file descriptors that a shim starts with, beside the standard ones.
const (
	controlFD = 3
	reportFD  = 4
)

// exitUsage is the exit code of a shim that wasn't started by a core (sysexits: EX_USAGE).
const exitUsage = 64

// IsShim tells whether the program was started as a shim: then main calls [ShimMain] and
// nothing else. So does the TestMain of tests that run commands.
func IsShim(args []string) bool { return len(args) > 0 && args[0] == shimName }

// ShimMain is the shim's whole life. It returns the exit code for the process.
func ShimMain() int {
	// Two settings of start are a thread's: no_new_privs is inherited from the thread that
	// forks, and the parent-death signal is sent when that thread ends. The first thread of the
	// process ends last.
	runtime.LockOSThread()
	_ = os.WriteFile("/proc/self/comm", []byte(shimName), 0) // else it is shown as "exe"
	// A signal to all processes of the core's service isn't meant for the shim, which ends when
	// its core does. Ignoring would be inherited by the command; a handler isn't.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	_ = unix.SetNonblock(controlFD, true) // waiting for it needs no thread then; the next line finds out
	orders := json.NewDecoder(os.NewFile(controlFD, "control"))
	var first order
	switch err := orders.Decode(&first); {
	case errors.Is(err, io.EOF):
		return 0 // the core died before it said what to run
	case err != nil || first.Start == nil:
		_, _ = io.WriteString(os.Stderr, shimName+" is started by anarchon, not by hand\n")
		return exitUsage
	}
	k := &keeper{reports: json.NewEncoder(os.NewFile(reportFD, "report")), self: os.Getpid()}
	if !k.start(first.Start) {
		return 0
	}
	k.keep(readOrders(orders))
	return 0
}

// readOrders passes orders on; the channel is closed when the core is gone.
func readOrders(decoder *json.Decoder) <-chan order {
	orders := make(chan order)
	go func() {
		defer close(orders)
		for {
			var o order
			if decoder.Decode(&o) != nil {
				return
			}
			orders <- o
		}
	}()
	return orders
}

// start starts the command, or reports why not.
func (k *keeper) start(o *startOrder) bool {
	if err := k.prepare(); err != nil {
		k.report(report{Broken: err.Error()})
		return false
	}
	now := boottime.Now()
	k.limits = limits{deadline: o.Deadline, grace: o.Grace, killAfter: o.KillAfter}
	if o.Timeout > 0 {
		k.limits.timeout = now + o.Timeout
	}
	if k.limits.due(now) != nothing { // the core was frozen for long
		k.report(report{Stopped: k.limits.stopped})
		return false
	}
	if err := k.fork(o); err != nil {
		k.report(report{Error: "exec: " + err.Error()})
		return false
	}
	k.report(report{PID: k.pid})
	return true
}

// prepare makes this process the one that everything below it falls back to, and sets what
// the command inherits.
func (k *keeper) prepare() (err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err)
	}
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return fmt.Errorf("no process can be supervised without /proc and a kernel with CONFIG_PROC_CHILDREN: %w", err)
	}
	if err := closeOnExec(); err != nil {
		return err
	}
	unix.Umask(0o077)
	k.deaths = make(chan os.Signal, 1)
	signal.Notify(k.deaths, unix.SIGCHLD)
	k.alarm, err = newAlarm()
	return err
}

// closeOnExec keeps every descriptor of this process from the command: its own, and those that
// whoever started the core has left open.
func closeOnExec() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > unix.Stderr {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

func (k *keeper) fork(o *startOrder) error {
	path, err := findProgram(o)
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer closeAll(null)
	k.pid, err = syscall.ForkExec(path, o.Command, &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env, Files: []uintptr{null.Fd(), 1, 2},
		Sys: &syscall.SysProcAttr{
			Setpgid:   true,            // one signal reaches what doesn't leave the group
			Pdeathsig: syscall.SIGKILL, // for the day on which somebody kills the shim
			PidFD:     &k.pidfd,
		},
	})
	if err != nil {
		return explain(path, err)
	}
	return nil
}

// explain says what the bare error of execve doesn't.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf("%s: the arguments and the environment are larger than the system takes; pass large values in files", path)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is no program, and no script either without a first line such as #!/bin/sh", path)
	case errors.Is(err, syscall.ENOENT) && executable(path) == nil:
		return fmt.Errorf("%s: the interpreter that it names, in its first line or as its loader, doesn't exist", path)
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
}
