package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// board shows what the instances of `anarchon dev` do, and counts it.
type board struct {
	out    io.Writer
	agents []*devAgent // complete before any other method is called

	mu       sync.Mutex // guards what follows, and the writing to out
	counts   map[string]*devCount
	killWant bool
	failed   error
}

// devCount is what one instance did.
type devCount struct {
	won, takeovers, finished, failed, taken, skipped int

	running map[string]bool // the runs that it holds
}

func newBoard(out io.Writer) *board {
	return &board{out: out, counts: map[string]*devCount{}}
}

// killNext kills the next instance that starts a run which isn't over at once.
func (b *board) killNext() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.killWant = true
}

// show writes one thing that an agent logged, if it is worth a line, and counts it.
func (b *board) show(a *devAgent, l logLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := b.counts[a.name]
	if count == nil {
		count = &devCount{running: map[string]bool{}}
		b.counts[a.name] = count
	}
	switch l.Message {
	case "won":
		count.won++
		count.running[l.Run] = true
		if l.Attempt > 1 {
			count.takeovers++
		}
	case "lost", "released":
		delete(count.running, l.Run)
	case "finished":
		count.finished++
		delete(count.running, l.Run)
		if l.Outcome != "succeeded" {
			count.failed++
		}
	case "taken":
		count.taken++
		return
	case "overlap", "late":
		count.skipped++
	default:
		if l.Level == "DEBUG" {
			return
		}
	}
	b.line(a.name, l.Run, l.what())
	if b.killWant && l.Message == "won" {
		b.killHolder(a, l.Run)
	}
}

// killHolder kills a if it still holds the run a moment from now, and no other was killed by
// then: a run that is over would show no takeover.
func (b *board) killHolder(a *devAgent, run string) {
	time.AfterFunc(500*time.Millisecond, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.killWant || !b.counts[a.name].running[run] {
			return
		}
		b.killWant = false
		a.killed = true
		a.kill()
		b.line(a.name, run, "kill -9: when its lease has ended, another instance takes the run over")
	})
}

// ended notes that an agent's process has ended.
func (b *board) ended(a *devAgent, well bool, how string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !a.killed && !well {
		b.failed = fmt.Errorf("instance %s ended: %s", a.name, how)
		b.line(a.name, "", "ended: "+how)
	}
}

func (b *board) line(name, run, what string) {
	fmt.Fprintf(b.out, "%s  %-4s %-28s %s\n", time.Now().Format("15:04:05.000"), name, run, what)
}

// failure returns why the command failed, or nil.
func (b *board) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// summary tells who ran what.
func (b *board) summary() {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintln(b.out)
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "INSTANCE\tWON\tOF THEM TAKEN OVER\tFINISHED\tFAILED\tLEFT TO OTHERS\tSKIPPED")
	for _, a := range b.agents {
		c := b.counts[a.name]
		if c == nil {
			c = &devCount{}
		}
		name := a.name
		if a.killed {
			name += " (killed)"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", name, c.won, c.takeovers, c.finished, c.failed, c.taken, c.skipped)
	}
	_ = t.Flush() // a failed write to the terminal shows there
}
