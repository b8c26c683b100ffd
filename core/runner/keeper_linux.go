package runner

import (
	"encoding/json"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anarchon-scheduler/anarchon/core/boottime"
)

// again is the time between two looks for processes that SIGKILL has missed.
const again = 2 * time.Millisecond

// reapAtOnce bounds how many dead children are waited for in a row: who forks fast must not
// keep the shim from killing.
const reapAtOnce = 256

// keeper is the shim's work: it keeps one command, from its start to the death of the last
// process of its tree. A single goroutine signals and waits, so a child that has died keeps
// its pid until nobody is about to signal it.
type keeper struct {
	reports *json.Encoder
	limits  limits
	alarm   *alarm
	deaths  chan os.Signal  // size 1: SIGCHLD
	self    int             // the shim's pid, the root of the tree
	pid     int             // the command's own process
	pidfd   int             // the same, while the kernel has such; else -1
	ended   bool            // the command's own process has ended
	exit    unix.WaitStatus // how, once it has
}

func (k *keeper) report(r report) {
	_ = k.reports.Encode(r) // if the core is gone, nobody wants to know
}

// keep watches over the command until its own process has ended, then kills what that has left
// behind, and reports the end.
func (k *keeper) keep(orders <-chan order) {
	for k.reap(); !k.ended; k.reap() {
		k.apply(k.limits.due(boottime.Now()))
		k.alarm.set(k.limits.next())
		select {
		case <-k.deaths:
		case <-k.alarm.C:
		case o, ok := <-orders:
			now := boottime.Now()
			switch {
			case !ok: // the core is gone
				orders = nil
				k.apply(k.limits.orphan(now))
			case o.Stop:
				k.apply(k.limits.order(now))
			case o.Deadline > 0:
				k.limits.extend(o.Deadline)
			}
		}
	}
	k.clear()
	r := report{Ended: true, Exit: k.exit.ExitStatus(), Stopped: k.limits.stopped}
	if k.exit.Signaled() {
		r.Signal = int(k.exit.Signal())
		r.Exit = 128 + r.Signal
	}
	k.report(r)
}

// apply does what a limit asks for.
func (k *keeper) apply(a action) {
	switch a {
	case terminate:
		signalTree(k.self, unix.SIGTERM)
	case kill:
		k.clear()
	case nothing:
	}
}

// clear kills the tree and returns when all of it is dead.
func (k *keeper) clear() {
	pause := time.NewTicker(again)
	defer pause.Stop()
	for !k.reap() {
		// A group is signalled in one step, in which none of it can fork: that is the end of most
		// fork bombs. Kernels before 6.9 don't know how, and leave it to the next line.
		_ = unix.PidfdSendSignal(k.pidfd, unix.SIGKILL, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
		signalTree(k.self, unix.SIGKILL)
		select {
		case <-k.deaths:
		case <-pause.C:
		}
	}
}

// reap waits for children that have died. It returns true when there are none left, dead or
// alive: then the whole tree is gone, since what loses its parent becomes the shim's child.
func (k *keeper) reap() (gone bool) {
	for range reapAtOnce {
		var exit unix.WaitStatus
		pid, err := unix.Wait4(-1, &exit, unix.WNOHANG, nil)
		switch {
		case err != nil: // ECHILD
			k.ended = true
			return true
		case pid == 0: // all that are left live
			return false
		case pid == k.pid:
			k.ended, k.exit = true, exit
		}
	}
	select {
	case k.deaths <- unix.SIGCHLD: // there may be more, and they were announced already
	default:
	}
	return false
}
