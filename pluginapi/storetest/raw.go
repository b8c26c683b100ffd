package storetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

// rawProcess is a plugin process that the suite starts itself, to see what it does on its
// standard input and output and with almost no environment.
type rawProcess struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	answer string        // the handshake's line
	took   time.Duration // until that line was there
	noise  chan string   // whatever else came on standard output, once the process has ended
}

// startRaw starts the plugin as go-plugin does, but with no environment beyond the handshake,
// and returns when it has answered.
func (t *trial) startRaw(ctx context.Context) *rawProcess {
	cmd := t.rawCommand(ctx)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.fatalf("pipe: %v", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.fatalf("pipe: %v", err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.fatalf("start %s: %v", t.target.Binary, err)
	}
	t.cleanup(func() { // it has ended by itself, unless the check failed
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &rawProcess{cmd: cmd, stdin: stdin, noise: make(chan string, 1)}
	answer := make(chan string, 1)
	go func() {
		var noise strings.Builder
		answered := false
		for line := range lines(stdout) {
			if !answered && checkAnswer(line) == nil {
				answered = true
				answer <- line
			} else {
				noise.WriteString(line)
			}
		}
		p.noise <- noise.String()
	}()
	select {
	case p.answer = <-answer:
		p.took = time.Since(start)
	case noise := <-p.noise:
		t.fatalf("the process ended without a handshake; standard output: %.200q", noise)
	case <-time.After(10 * time.Second):
		t.fatalf("no handshake on standard output within 10 s of the start")
	}
	return p
}

// rawCommand is the plugin with no environment beyond the handshake.
func (t *trial) rawCommand(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.target.Binary)
	cmd.Env = []string{
		handshake.CookieKey + "=" + handshake.CookieValue,
		"PLUGIN_PROTOCOL_VERSIONS=1,2,99",
	}
	cmd.Stderr = t.heard
	return cmd
}

// lines yields the lines of r with their ends, until it ends.
func lines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for reader := bufio.NewReader(r); ; {
			line, err := reader.ReadString('\n')
			if line != "" && !yield(line) || err != nil {
				return
			}
		}
	}
}

// wait waits for the end of the process and returns what it wrote besides the handshake.
func (p *rawProcess) wait(limit time.Duration) (noise string, err error) {
	select {
	case noise = <-p.noise:
		return noise, p.cmd.Wait()
	case <-time.After(limit):
		return "", errors.New("it still runs")
	}
}

// byHand runs the plugin as a person would: without the handshake's environment.
func (t *trial) byHand(ctx context.Context, args ...string) (stdout string, code int) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.target.Binary, args...)
	cmd.Env, cmd.WaitDelay = []string{}, time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, t.heard
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.fatalf("run %s %s: %v", t.target.Binary, strings.Join(args, " "), err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// checkAnswer says what is wrong with a plugin's handshake: the version of go-plugin's own
// protocol, of ours, a unix socket, and gRPC.
func checkAnswer(line string) error {
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	if len(fields) < 5 || fields[0] != "1" || fields[1] != strconv.Itoa(handshake.Protocol) || fields[2] != "unix" || fields[4] != "grpc" {
		return fmt.Errorf("handshake: got %.100q, want 1|%d|unix|PATH|grpc|", line, handshake.Protocol)
	}
	return nil
}
