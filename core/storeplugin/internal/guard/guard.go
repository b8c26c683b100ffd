// Package guard notices answers of a store that can't be: evidence that it breaks its
// promise of one winner, or the contract.
package guard

import (
	"fmt"
	"sync"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// remembered is how many won runs are remembered: those of some minutes on a busy instance,
// which is when a store with a broken promise shows it.
const remembered = 16384

// Guard remembers what this instance won lately. The zero value is ready. Its methods may be
// called concurrently; their errors say what is wrong with an answer.
type Guard struct {
	mu    sync.Mutex  // guards what follows
	wins  map[run]win // at most remembered
	order []run       // the keys of wins; a ring once it is full
	next  int         // the oldest in the ring
}

type run struct {
	job  string
	slot pluginapi.Slot
}

type win struct {
	attempt int
	token   pluginapi.Token
}

// Claim checks the answer to a claim: a verdict of the contract, no attempt of a run won by
// two tokens, and attempts that only grow.
func (g *Guard) Claim(c pluginapi.Claim, r pluginapi.ClaimResult) error {
	if r.Verdict < pluginapi.Won || r.Verdict > pluginapi.Early {
		return fmt.Errorf("a claim was answered with verdict %d", r.Verdict)
	}
	if r.Verdict != pluginapi.Won {
		return nil
	}
	if r.Attempt < 1 {
		return fmt.Errorf("slot %d of job %s was won as attempt %d; attempts count from 1", c.Slot, c.Job, r.Attempt)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key := run{job: c.Job, slot: c.Slot}
	before, known := g.wins[key]
	switch {
	case known && r.Attempt < before.attempt:
		return fmt.Errorf("slot %d of job %s was won as attempt %d after attempt %d", c.Slot, c.Job, r.Attempt, before.attempt)
	case known && r.Attempt == before.attempt && c.Token != before.token:
		return fmt.Errorf("slot %d of job %s, attempt %d, was won by two claims", c.Slot, c.Job, r.Attempt)
	case !known:
		g.remember(key)
	}
	g.wins[key] = win{attempt: r.Attempt, token: c.Token}
	return nil
}

// remember makes room for key, in the place of the oldest.
func (g *Guard) remember(key run) {
	if g.wins == nil {
		g.wins = map[run]win{}
	}
	if len(g.order) < remembered {
		g.order = append(g.order, key)
		return
	}
	delete(g.wins, g.order[g.next])
	g.order[g.next] = key
	g.next = (g.next + 1) % remembered
}

// Heartbeat checks the answer to a heartbeat.
func Heartbeat(r pluginapi.HeartbeatResult) error {
	if r.Verdict != pluginapi.Won && r.Verdict != pluginapi.Lost {
		return fmt.Errorf("a heartbeat was answered with verdict %q (%d)", r.Verdict, r.Verdict)
	}
	return nil
}

// Finish checks the answer to a finish.
func Finish(r pluginapi.FinishResult) error {
	if r.Verdict != pluginapi.Done && r.Verdict != pluginapi.Lost {
		return fmt.Errorf("a finish was answered with verdict %q (%d)", r.Verdict, r.Verdict)
	}
	return nil
}
