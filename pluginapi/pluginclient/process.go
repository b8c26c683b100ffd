package pluginclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// leftover is how long the end of a plugin may take: a pipe is still read when somebody who
// left the process group holds it open, and an exit is awaited once the connection is broken.
const leftover = 200 * time.Millisecond

// killTime is how long a process may take to go after SIGKILL.
const killTime = time.Second

// errStartTimeout is the cause of a start's context that has ended by itself.
var errStartTimeout = errors.New("start timeout")

// process is a plugin's process. To go-plugin it is a runner that has started already.
type process struct {
	path   string
	dir    string // with the socket; ours alone
	pid    int
	answer string // the handshake line
	out    *output
	pipes  *pipes

	done   chan struct{} // closed when the process is gone and everything it wrote is read
	status string        // how it ended; to be read once done is closed

	mu   sync.Mutex
	gone bool // guarded by mu: the process id may belong to another
}

// launch starts the plugin and waits for its answer, until ctx ends. The process that it
// returns runs; with an error nothing is left of it.
func launch(ctx context.Context, options Options, binary *os.File, env []string, dir string) (*process, error) {
	ends, err := openPipes()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path:        execPath(binary),
		Args:        append([]string{options.Path}, options.Args...),
		Env:         append(environment(options, dir), env...),
		Dir:         "/",
		Stdin:       ends.stdin,
		Stdout:      ends.stdoutIn,
		Stderr:      ends.stderrIn,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, // so that its children can be killed with it
	}
	err = cmd.Start()
	ends.closePlugins()
	if err != nil {
		ends.closeOurs()
		return nil, execError(options.Path, binary, err)
	}
	p := &process{
		path:  options.Path,
		dir:   dir,
		pid:   cmd.Process.Pid,
		out:   newOutput(options.Log.With(slog.Int("pid", cmd.Process.Pid))),
		pipes: ends,
		done:  make(chan struct{}),
	}
	answer := make(chan string, 1) // one is all that is ever sent
	go p.watch(context.WithoutCancel(ctx), cmd, answer)
	if p.answer, err = p.await(ctx, options, answer); err != nil {
		_ = p.kill() // the reason for the failure is what matters
		return nil, err
	}
	return p, nil
}

// watch reads what the plugin writes, and waits for its end. Log lines get ctx.
func (p *process) watch(ctx context.Context, cmd *exec.Cmd, answer chan<- string) {
	var readers sync.WaitGroup
	readers.Go(func() {
		answered := false
		eachLine(p.pipes.stdout, func(line string) {
			if !answered && isAnswer(line) {
				answered = true
				answer <- line
				return
			}
			p.out.noise(ctx, "stdout", line)
		})
	})
	readers.Go(func() {
		eachLine(p.pipes.stderr, func(line string) { p.out.stderr(ctx, line) })
	})
	_ = cmd.Wait() // the state says more
	p.mu.Lock()
	p.signalGroup() // its children; the number of a group can't be taken while it has members
	p.gone = true
	p.mu.Unlock()

	// The pipes end with the group, unless somebody who left it holds them.
	_ = errors.Join(p.pipes.stdout.SetReadDeadline(time.Now().Add(leftover)), p.pipes.stderr.SetReadDeadline(time.Now().Add(leftover)))
	readers.Wait()
	p.pipes.closeOurs()
	p.out.tellDropped(ctx)
	p.status = cmd.ProcessState.String()
	close(p.done)
}

// await returns the plugin's answer once it has passed its checks.
func (p *process) await(ctx context.Context, options Options, answer <-chan string) (string, error) {
	select {
	case line := <-answer:
		if reason := checkAnswer(line, p.dir, !options.PlainText); reason != "" {
			return "", &StartError{Path: p.path, Reason: reason, Permanent: true}
		}
		return line, nil
	case <-p.done:
		return "", p.startError(p.endedEarly())
	case <-ctx.Done():
		return "", p.notInTime(ctx, options)
	}
}

// endedEarly says what it means that the plugin ended before it answered.
func (p *process) endedEarly() string {
	last := p.out.last()
	switch {
	case p.out.hasCrashed():
		return "it crashed at its start (" + p.status + ")"
	case strings.Contains(last, "plugin"):
		return fmt.Sprintf("it ended (%s) before it answered; it may be a plugin of another program", p.status)
	default:
		return fmt.Sprintf("it ended (%s) before it answered; it is no store plugin of anarchon, or can't start here", p.status)
	}
}

// notInTime says that the start took too long, or that the caller gave up.
func (p *process) notInTime(ctx context.Context, options Options) error {
	if !errors.Is(context.Cause(ctx), errStartTimeout) {
		return fmt.Errorf("start plugin %s: %w", p.path, context.Cause(ctx))
	}
	return p.startError(fmt.Sprintf("it didn't answer within %s; it is no store plugin of anarchon, or hangs", options.StartTimeout))
}

func (p *process) startError(reason string) *StartError {
	return &StartError{Path: p.path, Reason: reason, LastLine: p.out.last()}
}

// letGo ends the plugin's standard input, which asks it to stop.
func (p *process) letGo() {
	_ = p.pipes.lifeline.Close() // closed already: it is gone
}

// end waits for the process until ctx ends, and then kills it.
func (p *process) end(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return p.kill()
	}
}

// kill kills the process with its group, and waits until it is gone; but not for ever, as
// the kernel can hold a process that waits for a device.
func (p *process) kill() error {
	p.mu.Lock()
	p.signalGroup()
	p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-time.After(killTime):
		return fmt.Errorf("plugin %s: process %d is still there %s after SIGKILL", p.path, p.pid, killTime)
	}
}

// signalGroup kills the group while it is certainly ours.
func (p *process) signalGroup() {
	if !p.gone {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL) // ESRCH: gone already
	}
}

// ended tells how the process has ended, in short; "" while it runs.
func (p *process) ended() string {
	select {
	case <-p.done:
		return fmt.Sprintf("plugin %s (pid %d) has ended: %s", p.path, p.pid, p.status)
	default:
		return ""
	}
}

// err returns why the process has ended, with what it wrote at last; nil while it runs.
func (p *process) err() error {
	text := p.ended()
	if text == "" {
		return nil
	}
	if lines := p.out.end(); len(lines) > 0 {
		text += "; its last lines on standard error:\n" + strings.Join(lines, "\n")
	}
	return errors.New(text)
}

// pipes are both ends of a plugin's standard files.
type pipes struct {
	stdin, lifeline  *os.File // the plugin's standard input; closing lifeline asks it to stop
	stdout, stdoutIn *os.File
	stderr, stderrIn *os.File
}

func openPipes() (*pipes, error) {
	var p pipes
	var err [3]error
	p.stdin, p.lifeline, err[0] = os.Pipe()
	p.stdout, p.stdoutIn, err[1] = os.Pipe()
	p.stderr, p.stderrIn, err[2] = os.Pipe()
	if err := errors.Join(err[:]...); err != nil {
		p.closePlugins()
		p.closeOurs()
		return nil, err
	}
	return &p, nil
}

// closePlugins closes the ends that the plugin has inherited. Closing what is closed, or
// wasn't opened, does no harm.
func (p *pipes) closePlugins() {
	_ = errors.Join(p.stdin.Close(), p.stdoutIn.Close(), p.stderrIn.Close())
}

// closeOurs closes the other ends.
func (p *pipes) closeOurs() {
	_ = errors.Join(p.lifeline.Close(), p.stdout.Close(), p.stderr.Close())
}
