package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// requireEnv set to 1 says that nothing may be missing: CI and `make test` set it.
const requireEnv = "ANARCHON_TEST_REQUIRE"

// Spec says how to run a server.
type Spec struct {
	// Command is the program, found in PATH unless it is a path, and its arguments. The server
	// must stay in the foreground and listen on loopback only.
	Command []string
	// Env is its whole environment; nil means that of the test.
	Env []string
	// Dir is its working directory; "" means that of the test.
	Dir string
	// Credential is who it runs as; nil means the test's user.
	Credential *syscall.Credential
	// StopSignal is what [Server.Stop] sends; 0 means SIGTERM.
	StopSignal syscall.Signal
	// Ready is asked every 10 ms until it returns nil; its context ends after a second.
	Ready func(ctx context.Context) error
	// Within is how long the server may take until it is ready; 0 means 30 s.
	Within time.Duration
}

// Server is a running server. Its methods are for one goroutine at a time.
type Server struct {
	spec Spec
	log  string // the file with its standard output and error
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// Start starts a server and waits until it is ready. It is killed at the end of the test; when
// the test has failed, the end of the server's log is shown.
func Start(tb testing.TB, spec Spec) *Server {
	tb.Helper()
	s, err := Launch(spec)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of %s's log:\n%s", spec.Command[0], s.Log())
		}
		s.Close()
	})
	return s
}

// Launch is [Start] without a test, for servers that a whole package shares: [Server.Close] ends
// it.
func Launch(spec Spec) (*Server, error) {
	log, err := os.CreateTemp("", "testserver-*.log")
	if err != nil {
		return nil, err
	}
	if err := log.Close(); err != nil {
		return nil, err
	}
	s := &Server{spec: spec, log: log.Name()}
	if err := s.start(); err != nil {
		defer s.Close()
		return nil, fmt.Errorf("%w; the end of its log:\n%s", err, s.Log())
	}
	return s, nil
}

func (s *Server) start() error {
	log, err := os.OpenFile(s.log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the process has its own descriptor
	cmd := exec.Command(s.spec.Command[0], s.spec.Command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.spec.Env, s.spec.Dir, log, log
	cmd.SysProcAttr = attributes(s.spec.Credential)
	started, done := make(chan error, 1), make(chan struct{})
	go func() { started <- run(cmd, started, done) }()
	if err := <-started; err != nil {
		return err
	}
	s.cmd, s.done = cmd, done
	return s.wait()
}

// wait waits until the server is ready.
func (s *Server) wait() error {
	within := s.spec.Within
	if within == 0 {
		within = 30 * time.Second
	}
	late := time.NewTimer(within)
	defer late.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) //nolint:forbidigo // a shared server has no caller whose context could end
		err := s.spec.Ready(ctx)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.done:
			return fmt.Errorf("%s ended before it was ready: %s", s.spec.Command[0], s.cmd.ProcessState)
		case <-late.C:
			return fmt.Errorf("%s isn't ready after %s: %w", s.spec.Command[0], within, err)
		}
	}
}

// PID returns the server's process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Kill ends the server like kill -9, and waits until it is gone.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.done
}

// Stop asks the server to end, and waits for it; after 30 s it is killed, and that is an error.
func (s *Server) Stop() error {
	stop := s.spec.StopSignal
	if stop == 0 {
		stop = syscall.SIGTERM
	}
	if err := s.signal(stop); err != nil {
		return err
	}
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	select {
	case <-s.done:
		return nil
	case <-late.C:
		s.Kill()
		return fmt.Errorf("%s didn't end on %s", s.spec.Command[0], stop)
	}
}

// Restart starts the server again after [Server.Kill] or [Server.Stop], and waits until it is
// ready.
func (s *Server) Restart() error { return s.start() }

// Pause freezes the server's process, as SIGSTOP does; [Server.Resume] lets it go on.
func (s *Server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume ends a [Server.Pause].
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s to %s: %w", sig, s.spec.Command[0], err)
	}
	return nil
}

// Log returns the last 4 KiB of what the server has printed.
func (s *Server) Log() string {
	const most = 4096
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Close kills the server and removes its log. It may be called more than once.
func (s *Server) Close() {
	s.Kill()
	_ = os.Remove(s.log)
}

// Require returns the path of a program: the first of names that is in PATH, or exists where it
// is a path. Without any, the test is skipped, or fails where nothing may be missing.
func Require(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(tb, fmt.Sprintf("none of the programs %q is installed", names))
	return ""
}

// Missing skips the test for what it lacks, or fails it where nothing may be missing.
func Missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv(requireEnv) == "1" {
		tb.Fatal("missing: " + what)
	}
	tb.Skip("missing: " + what)
}

var (
	portsMu sync.Mutex // guards ports
	ports   = map[int]bool{}
)

// Port returns a TCP port of 127.0.0.1 that nothing listens on, and that this process hasn't
// been given before. Another process can take it before the server does: that server then says
// so and ends, and the test fails.
func Port(tb testing.TB) int {
	tb.Helper()
	port, err := FreePort()
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// FreePort is [Port] without a test.
func FreePort() (int, error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		addr, _ := l.Addr().(*net.TCPAddr)
		if err := l.Close(); err != nil {
			return 0, err
		}
		if !ports[addr.Port] {
			ports[addr.Port] = true
			return addr.Port, nil
		}
	}
}
