package runner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is one process of a tree, as it was seen.
type process struct {
	pid, parent int
}

// tree appends all processes below root to found, parents before their children. One that is
// just being forked, or whose parent ends meanwhile, can be missed.
func tree(root int, found []process) []process {
	tasks := fmt.Sprintf("/proc/%d/task", root)
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return found // it has ended
	}
	for _, thread := range threads {
		children, err := os.ReadFile(tasks + "/" + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(children) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				found = tree(pid, append(found, process{pid: pid, parent: root}))
			}
		}
	}
	return found
}

// signalTree signals every process below root and returns how many of them were alive. Since
// tree can miss some, SIGKILL must be repeated until root has no children left: root is their
// subreaper, so none can get away from it.
func signalTree(root int, signal unix.Signal) (alive int) {
	for _, p := range tree(root, nil) {
		ours := func(s status) bool { return s.parent == p.parent || s.parent == root }
		if signalIf(p.pid, signal, ours) {
			alive++
		}
	}
	return alive
}

// signalSession signals every process of a session and returns how many of them were alive.
func signalSession(id int, signal unix.Signal) (alive int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	ours := func(s status) bool { return s.session == id }
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && signalIf(pid, signal, ours) {
			alive++
		}
	}
	return alive
}

// signalIf signals the process pid if it is alive and ours, and tells whether it was. The
// process is held by a descriptor before it is looked at: were its number given to another one
// meanwhile, that one would not get the signal.
func signalIf(pid int, signal unix.Signal, ours func(status) bool) bool {
	send := func(signal unix.Signal) { _ = unix.Kill(pid, signal) } // before Linux 5.3
	switch fd, err := unix.PidfdOpen(pid, 0); {
	case err == nil:
		defer func() { _ = unix.Close(fd) }()
		send = func(signal unix.Signal) { _ = unix.PidfdSendSignal(fd, signal, nil, 0) }
	case !errors.Is(err, unix.ENOSYS):
		return false // it has ended
	}
	s, ok := statusOf(pid)
	if !ok || s.dead || !ours(s) {
		return false
	}
	send(signal)
	if signal == unix.SIGTERM {
		send(unix.SIGCONT) // a process that is stopped doesn't see SIGTERM
	}
	return true
}

// status is what the kernel says of a process.
type status struct {
	dead            bool // it has ended, and its parent has yet to fetch its exit status
	parent, session int
}

func statusOf(pid int) (status, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return status{}, false
	}
	return parseStatus(stat)
}

// parseStatus reads /proc/<pid>/stat (proc(5)): pid (name) state ppid pgrp session. The name
// can hold anything, so what counts is the last parenthesis.
func parseStatus(stat []byte) (status, bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 {
		return status{}, false
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	session, err2 := strconv.Atoi(string(fields[3]))
	state := string(fields[0])
	return status{dead: state == "Z" || state == "X", parent: parent, session: session}, err1 == nil && err2 == nil
}
