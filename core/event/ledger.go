package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// Turn names what has one final event on an instance: a slot that was due there, or an attempt
// that was taken over.
type Turn struct {
	job.Run
	// Takeover is the attempt that was taken over; 0 for the slot that was due here.
	Takeover int
}

// String returns the turn's name: that of the run, with the attempt where it was taken over.
func (t Turn) String() string {
	if t.Takeover == 0 {
		return t.Run.String()
	}
	return fmt.Sprintf("%s attempt %d", t.Run, t.Takeover)
}

func (t Turn) compare(u Turn) int {
	return cmp.Or(cmp.Compare(t.Slot, u.Slot), cmp.Compare(t.Job, u.Job), cmp.Compare(t.Takeover, u.Takeover))
}

// Ledger counts what slots end in, and finds turns that end twice, or never. Its methods may be
// called concurrently.
type Ledger struct {
	memory int

	mu     sync.Mutex // guards what follows
	totals map[Kind]int64
	open   map[Turn]struct{} // begun, and not ended
	ended  map[Turn]struct{} // the last ones, at most memory
	order  []Turn            // of ended: a ring, once it is full
	oldest int               // the place in order that is used again next
	twice  []Turn            // at most memory
}

// NewLedger returns an empty ledger that recognises the last memory turns that have ended, at
// least 1. What it holds beside these are the turns that are under way.
func NewLedger(memory int) *Ledger {
	return &Ledger{
		memory: max(1, memory),
		totals: make(map[Kind]int64),
		open:   make(map[Turn]struct{}),
		ended:  make(map[Turn]struct{}),
	}
}

// Due notes that a slot is due on the instance, and so must end there. A ledger that isn't told
// only misses slots of which it hears nothing at all.
func (l *Ledger) Due(run job.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[Turn{Run: run}] = struct{}{}
}

// Note takes an event down; it is meant for [Bus.Subscribe].
func (l *Ledger) Note(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals[e.Kind] += int64(max(1, e.Count))
	turn := Turn{Run: e.Run}
	if e.Takeover {
		turn.Takeover = e.Attempt
		if e.Attempt == 0 {
			return // a takeover that didn't come about may be tried, and end, again
		}
	}
	switch {
	case !e.Kind.Final():
		l.open[turn] = struct{}{}
	case l.hasEnded(turn):
		if len(l.twice) < l.memory {
			l.twice = append(l.twice, turn)
		}
	default:
		l.end(turn)
	}
}

func (l *Ledger) hasEnded(turn Turn) bool {
	_, ok := l.ended[turn]
	return ok
}

// end moves a turn to those that have ended, and forgets the oldest of them.
func (l *Ledger) end(turn Turn) {
	delete(l.open, turn)
	if len(l.order) < l.memory {
		l.order = append(l.order, turn)
	} else {
		delete(l.ended, l.order[l.oldest])
		l.order[l.oldest] = turn
		l.oldest = (l.oldest + 1) % l.memory
	}
	l.ended[turn] = struct{}{}
}

// Totals returns how many slots each kind of event stands for.
func (l *Ledger) Totals() map[Kind]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.totals)
}

// Open returns the turns that have begun and haven't ended, in order of slot. Once the instance
// has stopped there must be none.
func (l *Ledger) Open() []Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.open), Turn.compare)
}

// Twice returns the turns that ended more than once, in the order of noticing. There must be none.
func (l *Ledger) Twice() []Turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.twice)
}
