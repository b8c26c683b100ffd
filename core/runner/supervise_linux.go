package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long the core waits for a shim that should have acted by now, before it
// kills the tree itself. The shim was then stopped by somebody, or hangs in the kernel.
const patience = 5 * time.Second

// sweep bounds how long the core itself tries to kill what it can, and reads the output of
// what it couldn't kill.
const sweep = time.Second

// shim is the core's end of a shim process.
type shim struct {
	cmd     *exec.Cmd
	control *os.File
	reports chan report // closed when the shim has ended
	stdout  *os.File    // the command's output, for the reading
	capture capture
	reading sync.WaitGroup
}

// pipes are the three connections to a shim, the core's ends first.
type pipes struct {
	control, report, output         *os.File
	shimControl, shimReport, stdout *os.File
}

func newPipes() (p pipes, err error) {
	var err1, err2, err3 error
	p.shimControl, p.control, err1 = os.Pipe()
	p.report, p.shimReport, err2 = os.Pipe()
	p.output, p.stdout, err3 = os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll(p.control, p.report, p.output, p.shimControl, p.shimReport, p.stdout)
		return pipes{}, err
	}
	return p, nil
}

// closeAll closes files, of which any may be nil.
func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// startShim starts a shim, which waits for its first order.
func startShim(spec Spec) (*shim, error) {
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer closeAll(p.shimControl, p.shimReport, p.stdout)
	s := &shim{control: p.control, stdout: p.output, reports: make(chan report), capture: capture{also: spec.Output}}
	// The running binary, also when another one was installed over it. Not bound to the
	// attempt's context: the shim ends by its control pipe.
	s.cmd = exec.Command("/proc/self/exe")
	s.cmd.Args = []string{shimName, spec.Run.String()}
	s.cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=32MiB"} // there are many, and they do little
	s.cmd.ExtraFiles = []*os.File{p.shimControl, p.shimReport}
	s.cmd.Stdout, s.cmd.Stderr = p.stdout, p.stdout
	// A session of its own: signals for the core's group or terminal aren't the command's.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.cmd.Start(); err != nil {
		closeAll(p.control, p.report, p.output)
		return nil, err
	}
	s.reading.Go(func() { _, _ = io.Copy(&s.capture, p.output) })
	s.reading.Go(func() { s.read(p.report) })
	return s, nil
}

// read passes the shim's reports on until it has ended.
func (s *shim) read(pipe *os.File) {
	defer closeAll(pipe)
	defer close(s.reports)
	reports := json.NewDecoder(bufio.NewReader(pipe))
	for {
		var r report
		if reports.Decode(&r) != nil {
			return
		}
		s.reports <- r
	}
}

// tell sends an order. A shim that has died is noticed by its reports, one that doesn't read
// by being overdue.
func (s *shim) tell(o order) {
	_ = s.control.SetWriteDeadline(time.Now().Add(patience))
	_ = json.NewEncoder(s.control).Encode(o)
}

// supervise passes extensions and the end of ctx on, until the tree is dead, and returns the
// shim's last report; the zero value if it died without one.
func (s *shim) supervise(ctx context.Context, spec Spec, lease Lease) report {
	var extended <-chan struct{}
	if lease != nil {
		extended = lease.Extended()
	}
	overdue := time.NewTimer(spec.Timeout + spec.KillAfter + patience)
	defer overdue.Stop()
	if spec.Timeout == 0 {
		overdue.Stop()
	}
	stop := ctx.Done()
	for {
		select {
		case r, ok := <-s.reports:
			switch {
			case !ok:
				return report{}
			case r.PID == 0: // all others are last words
				return r
			case spec.Started != nil:
				spec.Started(r.PID)
			}
		case <-extended:
			if deadline := lease.Deadline(); deadline > 0 {
				s.tell(order{Deadline: deadline})
			}
		case <-stop:
			stop = nil
			overdue.Reset(spec.KillAfter + patience)
			s.tell(order{Stop: true})
		case <-overdue.C:
			s.abandon()
		}
	}
}

// abandon kills the tree, and then the shim that should have done so.
func (s *shim) abandon() {
	repeat(func() int { return signalTree(s.cmd.Process.Pid, unix.SIGKILL) })
	_ = s.cmd.Process.Kill()
}

// close ends the shim, which has nothing left to do, and returns the output.
func (s *shim) close(end report) Output {
	_ = s.control.Close()
	if end != (report{}) {
		_ = s.cmd.Process.Kill() // it has said its last word, and need not tidy up
	}
	for range s.reports { // until the shim has ended
	}
	if end == (report{}) {
		// It was killed, and the kernel has killed the command. What that had started is no
		// longer below anything of ours, but it is found unless it made a session of its own. The
		// session's number is the shim's, and taken while the shim hasn't been waited for.
		repeat(func() int { return signalSession(s.cmd.Process.Pid, unix.SIGKILL) })
	}
	_ = s.cmd.Wait() // how the shim ended says nothing about the command
	// The end of the tree is the end of its output, unless the pipe was handed to others.
	_ = s.stdout.SetReadDeadline(time.Now().Add(sweep))
	s.reading.Wait()
	_ = s.stdout.Close()
	return s.capture.output()
}

// repeat kills until nothing is left alive, but not for ever.
func repeat(kill func() (alive int)) {
	pause := time.NewTicker(again)
	defer pause.Stop()
	for range sweep / again {
		if kill() == 0 {
			return
		}
		<-pause.C
	}
}
