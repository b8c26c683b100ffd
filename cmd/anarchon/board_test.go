package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// boardTest is a board of instances that aren't there, and what it has shown.
type boardTest struct {
	*board
	shown bytes.Buffer
}

func newBoardTest(names ...string) *boardTest {
	b := &boardTest{}
	b.board = newBoard(&b.shown)
	for _, name := range names {
		b.agents = append(b.agents, &devAgent{name: name, board: b.board, kill: func() {}})
	}
	return b
}

// tell has an instance log lines.
func (b *boardTest) tell(agent int, lines ...logLine) {
	for _, l := range lines {
		b.show(b.agents[agent], l)
	}
}

var timeOfDay = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d\d\d  `)

// take returns what was shown since the last call, without the times.
func (b *boardTest) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.shown.Reset()
	return timeOfDay.ReplaceAllString(b.shown.String(), "")
}

func TestBoardShows(t *testing.T) {
	for _, test := range []struct {
		name string
		line logLine
		want string
	}{
		{"won", logLine{Level: "INFO", Message: "won", Run: "a@1", Attempt: 1}, "i1   a@1                          won\n"},
		{"takeover", logLine{Level: "INFO", Message: "won", Run: "a@1", Attempt: 2}, "i1   a@1                          won (attempt 2)\n"},
		{"outcome", logLine{Level: "INFO", Message: "finished", Run: "a@1", Attempt: 1, Outcome: "failed", Reason: "exit status 3"}, "i1   a@1                          failed: exit status 3\n"},
		{"lost", logLine{Level: "WARN", Message: "lost", Run: "a@1", Reason: "the run is lost"}, "i1   a@1                          lost: the run is lost\n"},
		{"error", logLine{Level: "ERROR", Message: "store", Error: "no disk"}, "i1                                store: no disk\n"},
		{"what isn't ours", logLine{Level: "DEBUG", Message: "taken", Run: "a@1"}, ""},
		{"what goes on inside", logLine{Level: "DEBUG", Message: "started", Run: "a@1"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBoardTest("i1")
			b.tell(0, test.line)
			if got := b.take(); got != test.want {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
	}
}

func TestBoardCounts(t *testing.T) {
	b := newBoardTest("i1", "i2", "i3")
	b.tell(0,
		logLine{Message: "won", Run: "a@1", Attempt: 1}, logLine{Message: "finished", Run: "a@1", Outcome: "succeeded"},
		logLine{Message: "won", Run: "a@2", Attempt: 2}, logLine{Message: "finished", Run: "a@2", Outcome: "failed"},
		logLine{Message: "taken", Run: "a@3"}, logLine{Message: "overlap", Run: "a@4"}, logLine{Message: "late", Run: "a@5"})
	b.tell(1, logLine{Message: "won", Run: "a@3", Attempt: 1})
	b.agents[1].killed = true
	b.take()
	b.summary()
	const want = `
INSTANCE     WON  OF THEM TAKEN OVER  FINISHED  FAILED  LEFT TO OTHERS  SKIPPED
i1           2    1                   2         1       1               2
i2 (killed)  1    0                   0         0       0               0
i3           0    0                   0         0       0               0
`
	if got := b.take(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// The board kills the first instance that is still in the middle of a run half a second after
// it won it.
func TestBoardKillsAHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoardTest("i1", "i2")
		killed := make(chan string, 2) // as many as there are instances
		for _, a := range b.agents {
			a.kill = func() { killed <- a.name }
		}
		b.killNext()
		b.tell(0, logLine{Message: "won", Run: "a@1", Attempt: 1}, logLine{Message: "finished", Run: "a@1", Outcome: "succeeded"})
		<-time.After(time.Second)
		synctest.Wait()
		if len(killed) != 0 {
			t.Fatalf("killed %s, whose run was over", <-killed)
		}
		b.tell(0, logLine{Message: "won", Run: "short@1", Attempt: 1})
		b.tell(1, logLine{Message: "won", Run: "a@2", Attempt: 1})
		<-time.After(100 * time.Millisecond)
		b.tell(0, logLine{Message: "won", Run: "a@3", Attempt: 1}) // one kill is enough
		b.tell(0, logLine{Message: "finished", Run: "short@1", Outcome: "succeeded"})
		b.take()
		<-time.After(time.Second)
		synctest.Wait()
		if len(killed) != 1 || <-killed != "i2" {
			t.Error("want a kill of i2, and no other")
		}
		if got := b.take(); !strings.HasPrefix(got, "i2   a@2 ") || !strings.Contains(got, "kill -9") {
			t.Errorf("got %q; want the kill of i2 in a@2", got)
		}
	})
}

func TestBoardTellsOfInstancesThatFail(t *testing.T) {
	b := newBoardTest("i1", "i2", "i3")
	b.ended(b.agents[0], true, "exit status 0")
	b.agents[1].killed = true
	b.ended(b.agents[1], false, "signal: killed")
	if err := b.failure(); err != nil {
		t.Errorf("got %v; want no failure after a good end and a kill of its own", err)
	}
	b.ended(b.agents[2], false, "exit status 1")
	if err := b.failure(); err == nil || err.Error() != "instance i3 ended: exit status 1" {
		t.Errorf("got %v; want the end of i3", err)
	}
}
