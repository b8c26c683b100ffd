//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The commands of the jobs, for HCL. Each appends its lines in single writes.
const (
	// stampCommand writes one line and ends.
	stampCommand = `["sh", "-c", "echo start $ANARCHON_JOB $ANARCHON_SLOT $ANARCHON_ATTEMPT $ANARCHON_INSTANCE $$ $(date +%s%N) >> WITNESS"]`
	// tickCommand writes a start line, a tick each 50 ms, and after the seconds given as %d an
	// end line.
	tickCommand = `["sh", "-c", "exec 9>> WITNESS; r=\"$ANARCHON_JOB $ANARCHON_SLOT $ANARCHON_ATTEMPT $ANARCHON_INSTANCE $$\"; echo start $r $(date +%%s%%N) >&9; i=0; while [ $i -lt %d ]; do echo tick $r $(date +%%s%%N) >&9; sleep 0.05; i=$((i+1)); done; echo end $r $(date +%%s%%N) >&9"]`
)

// ticks is tickCommand for a run of about d.
func ticks(d time.Duration) string { return fmt.Sprintf(tickCommand, d/(50*time.Millisecond)) }

// witness is the file that the jobs write to.
type witness struct {
	t    testing.TB
	path string
}

// line is what one job wrote in one write. The file's order is the order of the writes.
type line struct {
	what     string // start, tick or end
	job      string
	slot     int64
	attempt  int
	instance string
	pid      int
	at       time.Time // the machine's wall clock
}

func (w witness) lines() []line {
	w.t.Helper()
	data, err := os.ReadFile(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []line
	scanner := bufio.NewScanner(bytes.NewReader(data[:bytes.LastIndexByte(data, '\n')+1]))
	for scanner.Scan() {
		f := strings.Fields(scanner.Text())
		if len(f) != 7 {
			w.t.Fatalf("witness line %q: want 7 fields", scanner.Text())
		}
		slot, err1 := strconv.ParseInt(f[2], 10, 64)
		attempt, err2 := strconv.Atoi(f[3])
		pid, err3 := strconv.Atoi(f[5])
		at, err4 := strconv.ParseInt(f[6], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			w.t.Fatalf("witness line %q: not a number", scanner.Text())
		}
		lines = append(lines, line{f[0], f[1], slot, attempt, f[4], pid, time.Unix(0, at)})
	}
	return lines
}

// starts returns the start lines, optionally of one job.
func (w witness) starts(job string) []line {
	w.t.Helper()
	var starts []line
	for _, l := range w.lines() {
		if l.what == "start" && (job == "" || l.job == job) {
			starts = append(starts, l)
		}
	}
	return starts
}

// waitStart waits for the first start line that match accepts.
func (w witness) waitStart(within time.Duration, match func(line) bool) line {
	w.t.Helper()
	var found line
	until(w.t, within, func() error {
		for _, l := range w.starts("") {
			if match(l) {
				found = l
				return nil
			}
		}
		return fmt.Errorf("no such start line in:\n%s", tail(w.path, 1000))
	})
	return found
}
