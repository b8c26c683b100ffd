package storetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// trial is one run of one check: what testing.T is to a test, without go test. Its methods may be
// called concurrently, except fatalf and skipf: those end the goroutine that runs the check.
type trial struct {
	*session
	check    Check
	rand     *rand.Rand // only for the check's own goroutine
	slot     pluginapi.Slot
	cleanups []func()

	mu       sync.Mutex // guards what follows
	failures []string
	skipped  string
	note     string
}

// errorf reports a failure; the check goes on.
func (t *trial) errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// fatalf reports a failure and ends the check.
func (t *trial) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	runtime.Goexit()
}

// skipf ends the check: it doesn't apply to the target. The reason is shown.
func (t *trial) skipf(format string, args ...any) {
	t.mu.Lock()
	t.skipped = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

// notef sets what the report says about a check that measures something.
func (t *trial) notef(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note = fmt.Sprintf(format, args...)
}

// cleanup runs f when the check has ended; the last one given runs first.
func (t *trial) cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// job returns a name that only this check of this execution uses.
func (t *trial) job(suffix string) string {
	return "t." + t.nonce + "." + strings.ToLower(t.check.ID) + suffix
}

// token returns a new token; all tokens of an execution share a mark, so that the suite can
// tell whether one of them is shown anywhere.
func (t *trial) token() pluginapi.Token { return pluginapi.Token(t.mark) + pluginapi.NewToken() }

// long is a lease, and a lateness limit, that no check outlives.
const long = time.Hour

// The names of the instances that the suite plays.
const (
	instanceOne = "one"
	instanceTwo = "two"
)

// claim returns a claim of the job's run at the check's slot, by instanceOne.
func (t *trial) claim(job string) pluginapi.Claim {
	return pluginapi.Claim{
		Job: job, Slot: t.slot, Token: t.token(), Instance: instanceOne,
		Lease: long, MaxLate: long, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
	}
}

// rival returns a claim of the same run under another token, by instanceTwo.
func (t *trial) rival(c pluginapi.Claim) pluginapi.Claim {
	c.Token, c.Instance = t.token(), instanceTwo
	return c
}
