// Package runner runs one attempt of a job, and ends every process of it.
//
// # The shim
//
// A command isn't started by the core itself but by a shim: the same binary, started anew with
// another name. The shim is the ancestor of all that the command starts, also of processes that
// daemonise, since it is their subreaper. When the command's own process has ended, whatever
// is left of its tree is killed, and only then does the shim report the end.
//
// The shim outlives neither the core nor the lease:
//
//   - The control pipe from the core closes when the core dies, however it dies. The shim then
//     kills the tree at once.
//   - The shim knows when the tree must be dead, on CLOCK_BOOTTIME, and counts by itself. The
//     core moves that instant on with each extension of the lease. A core that is frozen, or
//     cut off from its store, sends none, and the tree is dead before the lease ends.
//
// # What can happen to a shim
//
//   - It is killed: the kernel kills the command's own process, and the core what is left in
//     the shim's session. A process that had made a session of its own lives on.
//   - It is stopped, or hangs: once it is overdue by five seconds, the core kills the tree, and
//     the shim. It is overdue after the command's time limit, or after a request to stop.
//   - It is stopped together with the core, as when a virtual machine is paused: nobody is left
//     to stop the tree in time. It is stopped too, but may run for a moment afterwards, beside
//     the run's next attempt. That is why outside effects should be fenced with ANARCHON_FENCE.
//
// # What a command gets
//
// A clean environment, /dev/null to read from, no other open file, a session and a group of its
// own, umask 077, and no way to more privileges: sudo and other set-user-ID programs don't work
// below it.
//
// # Messages
//
// Both pipes carry one JSON value a line. Core to shim: first what to run, then deadlines and
// the request to stop. Shim to core: the start, or why there was none, then the end.
package runner
