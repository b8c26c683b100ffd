package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// devAgent is one instance of `anarchon dev`: a process of its own, known by what it logs.
type devAgent struct {
	name   string
	board  *board
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	kill   func() // kill -9
	killed bool   // by the board; guarded by the board's lock
}

// logLine is a line of an agent's JSON log, as far as the board shows it.
type logLine struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Error   string `json:"err"`
}

// start starts the process; when ctx ends it is drained, as SIGTERM does.
func (a *devAgent) start(ctx context.Context, o devOptions) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	a.cmd = exec.CommandContext(ctx, self, "agent", "--config", o.config, "--name", a.name, //nolint:gosec // our own binary
		"--data-dir", o.dataDir, "--log-level", "debug", "--log-format", "json")
	// A group of its own, so that Ctrl-C at the terminal reaches only this process.
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithDev(a.cmd.SysProcAttr)
	a.cmd.Cancel = func() error { return a.cmd.Process.Signal(syscall.SIGTERM) }
	pipe, err := a.cmd.StderrPipe()
	if err != nil {
		return err
	}
	a.lines = bufio.NewScanner(pipe)
	a.lines.Buffer(nil, 1<<20)
	a.kill = func() { _ = a.cmd.Process.Kill() } // it fails only if the process has ended, which wait tells
	return a.cmd.Start()
}

// wait shows what the agent does until it has ended.
func (a *devAgent) wait() {
	for a.lines.Scan() {
		var line logLine
		if json.Unmarshal(a.lines.Bytes(), &line) != nil {
			line = logLine{Level: "ERROR", Message: a.lines.Text()}
		}
		a.board.show(a, line)
	}
	_ = a.cmd.Wait() // after a stop it tells that ctx has ended; the process's state tells how it went
	state := a.cmd.ProcessState
	a.board.ended(a, state.Success() || endedBy(state, syscall.SIGTERM), state.String())
}

// endedBy tells whether a signal ended the process: SIGTERM does while it starts, and later
// drains it.
func endedBy(state *os.ProcessState, signal syscall.Signal) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}

func (l logLine) what() string {
	text := l.Message
	if l.Outcome != "" {
		text = l.Outcome
	}
	if l.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", l.Attempt)
	}
	for _, more := range []string{l.Reason, l.Error} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}
