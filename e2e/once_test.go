//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fifty are fifty jobs for a lease store. They may overlap: a run that takes long, on a busy
// machine, must not be a reason to skip the next slot.
func fifty() string { return dueEachSecond(50, `overlap = "allow"`) }

// dueEachSecond are n jobs that are due every second and write one line each.
func dueEachSecond(n int, settings string) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "job \"j%02d\" {\n  schedule = \"* * * * * *\"\n  max_late = \"30s\"\n  %s\n  exec {\n    command = %s\n  }\n}\n\n", k, settings, stampCommand)
	}
	return b.String()
}

// checkEachOnce fails unless every job started exactly once for every second in [first, last].
// It returns how many starts each instance has.
func checkEachOnce(t *testing.T, w witness, jobs int, first, last int64) map[string]int {
	t.Helper()
	type key struct {
		job  string
		slot int64
	}
	starts := map[key][]line{}
	names := map[string]bool{}
	won := map[string]int{}
	for _, l := range w.starts("") {
		starts[key{l.job, l.slot}] = append(starts[key{l.job, l.slot}], l)
		names[l.job] = true
		won[l.instance]++
	}
	if len(names) != jobs {
		t.Errorf("%d jobs started; want %d", len(names), jobs)
	}
	missing, doubled := 0, 0
	for name := range names {
		for slot := first; slot <= last; slot += 1000 {
			if len(starts[key{name, slot}]) == 0 {
				missing++
				if missing <= 5 {
					t.Errorf("%s: slot %d (%s) was never started", name, slot, time.UnixMilli(slot).UTC())
				}
			}
		}
	}
	for k, lines := range starts {
		if len(lines) > 1 {
			doubled++
			if doubled <= 5 {
				t.Errorf("%s: slot %d was started %d times: %v", k.job, k.slot, len(lines), lines)
			}
		}
	}
	t.Logf("%d starts, slots %d to %d of %d jobs: %d missing, %d doubled; by instance: %v",
		len(w.starts("")), first, last, jobs, missing, doubled, won)
	return won
}

// long tells whether this is `make e2e-long`, which runs for hours rather than minutes.
var long = os.Getenv("ANARCHON_E2E_LONG") == "1"

// seconds is how long a long test runs: a quarter of n, but all of it in `make e2e-long`.
func seconds(n int) time.Duration {
	if !long {
		n /= 4
	}
	return time.Duration(n) * time.Second
}

func TestThreeInstancesStartEachSlotOnce(t *testing.T) {
	startEachSlotOnce(t, newCluster(t, fifty()), 50, seconds(180))
}

// startEachSlotOnce has three instances run so many jobs, due every second, for so long: every slot
// has exactly one start, and every instance has some.
func startEachSlotOnce(t *testing.T, c *cluster, jobs int, d time.Duration) {
	t.Helper()
	all := c.startAll(3)
	first := time.Now().UnixMilli()/1000*1000 + 1000
	wait(t, d)
	last := time.Now().UnixMilli()/1000*1000 - 3000 // what is younger may still be in its jitter
	for _, i := range all {
		if code := i.stop(60 * time.Second); code != 0 {
			t.Errorf("%s: exit code %d after SIGTERM, want 0", i.name, code)
		}
	}
	won := checkEachOnce(t, c.witness, jobs, first, last)
	for _, i := range all {
		if won[i.name] == 0 {
			t.Errorf("%s won nothing in %v", i.name, won)
		}
	}
	// Losing a claim is normal: it is logged, and at debug level only.
	log, err := os.ReadFile(all[0].log)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for l := range strings.Lines(string(log)) {
		if strings.Contains(l, `"msg":"taken"`) {
			taken++
			if !strings.Contains(l, `"level":"DEBUG"`) {
				t.Fatalf("a lost claim isn't a debug line: %s", l)
			}
		}
	}
	if taken == 0 {
		t.Error("the log of i1 has no lost claim")
	}
}

// wait lets the instances work for d. It is the test's load, not a synchronisation.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

func TestKilledPluginInAClaimStormLosesNothing(t *testing.T) {
	c := newCluster(t, fifty())
	all := c.startAll(3)
	first := time.Now().UnixMilli()/1000*1000 + 1000
	for trial := range trials {
		// Slots are claimed within 250 ms of the second: kill at another place of it each time.
		next := time.UnixMilli(time.Now().UnixMilli()/1000*1000 + 2000 + int64(trial)*13)
		wait(t, time.Until(next))
		victim := all[trial%3]
		plugin := pluginOf(t, victim)
		if err := syscall.Kill(plugin, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, 35*time.Second, func() error { // the pause before a restart grows to 30 s
			if now, err := findPlugin(victim.pid()); err != nil || now == plugin {
				return fmt.Errorf("the plugin of %s isn't back: %v", victim.name, err)
			}
			return nil
		})
	}
	wait(t, 2*time.Second)
	last := time.Now().UnixMilli()/1000*1000 - 3000
	for _, i := range all {
		i.stop(60 * time.Second)
	}
	checkEachOnce(t, c.witness, 50, first, last)
}
