package runner

import (
	"testing"
	"time"
)

// White-box, since no test with real processes can play a suspend, or the exact instant of a
// limit.
func TestLimits(t *testing.T) {
	const (
		timeout  = 100 * time.Second
		deadline = 50 * time.Second
		grace    = 10 * time.Second
		patience = 20 * time.Second // KillAfter
	)
	type step struct {
		at   time.Duration
		do   func(*limits, time.Duration) action // nil: only look what is due
		want action
		next time.Duration
	}
	order, orphan := (*limits).order, (*limits).orphan
	extend := func(to time.Duration) func(*limits, time.Duration) action {
		return func(l *limits, now time.Duration) action {
			l.extend(to)
			return l.due(now)
		}
	}
	for name, c := range map[string]struct {
		limits  limits
		steps   []step
		stopped reason
	}{
		"none": {limits{}, []step{{at: 1e6 * time.Hour, want: nothing, next: 0}}, ""},
		"timeout": {limits{timeout: timeout, killAfter: patience}, []step{
			{at: timeout - 1, want: nothing, next: timeout},
			{at: timeout, want: terminate, next: timeout + patience},
			{at: timeout + patience - 1, want: nothing, next: timeout + patience},
			{at: timeout + patience, want: kill, next: timeout + patience},
			{at: timeout + patience + 1, want: kill, next: timeout + patience},
		}, byTimeout},
		"lease": {limits{deadline: deadline, grace: grace, killAfter: patience}, []step{
			{at: deadline - grace - 1, want: nothing, next: deadline - grace},
			{at: deadline - grace, want: terminate, next: deadline},
			{at: deadline - 1, want: nothing, next: deadline},
			{at: deadline, want: kill, next: deadline},
		}, byLease},
		"lease that ended in a suspend: killed at once": {limits{timeout: timeout, deadline: deadline, grace: grace}, []step{
			{at: timeout + time.Hour, want: kill, next: deadline},
		}, byLease},
		"lease with more grace than time": {limits{deadline: grace, grace: deadline}, []step{
			{at: 2, want: terminate, next: grace},
		}, byLease},
		"extended in time": {limits{deadline: deadline, grace: grace}, []step{
			{at: deadline - grace - 1, do: extend(2 * deadline), want: nothing, next: 2*deadline - grace},
			{at: deadline, want: nothing, next: 2*deadline - grace},
			{at: 2*deadline - grace, want: terminate, next: 2 * deadline},
		}, byLease},
		"extended too late: the stop goes on": {limits{deadline: deadline, grace: grace}, []step{
			{at: deadline - grace, want: terminate, next: deadline},
			{at: deadline - grace + 1, do: extend(2 * deadline), want: nothing, next: deadline},
			{at: deadline, want: kill, next: deadline},
		}, byLease},
		"ordered": {limits{timeout: timeout, killAfter: patience}, []step{
			{at: 5, do: order, want: terminate, next: 5 + patience},
			{at: 6, do: order, want: nothing, next: 5 + patience},
			{at: 5 + patience, want: kill, next: 5 + patience},
		}, byOrder},
		"ordered: no longer than the lease": {limits{deadline: deadline, grace: grace, killAfter: time.Hour}, []step{
			{at: 5, do: order, want: terminate, next: deadline},
			{at: deadline - grace, want: nothing, next: deadline},
			{at: 6, do: extend(2 * deadline), want: nothing, next: 2 * deadline},
			{at: 2 * deadline, want: kill, next: 2 * deadline},
		}, byOrder},
		"ordered without patience": {limits{}, []step{
			{at: 5, do: order, want: terminate, next: 5},
			{at: 5, want: kill, next: 5},
		}, byOrder},
		"timeout while being stopped": {limits{timeout: timeout, killAfter: time.Hour}, []step{
			{at: timeout - 1, do: order, want: terminate, next: timeout - 1 + time.Hour},
			{at: timeout, want: nothing, next: timeout - 1 + time.Hour},
		}, byOrder},
		"orphan": {limits{deadline: deadline, killAfter: patience}, []step{
			{at: 5, do: orphan, want: kill, next: 5},
			{at: 6, want: kill, next: 5},
		}, byOrphan},
		"orphan while being stopped": {limits{deadline: deadline, killAfter: patience}, []step{
			{at: 5, do: order, want: terminate, next: 5 + patience},
			{at: 6, do: orphan, want: kill, next: 6},
		}, byOrphan},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.limits
			for i, s := range c.steps {
				if s.do == nil {
					s.do = (*limits).due
				}
				if got := s.do(&l, s.at); got != s.want {
					t.Errorf("step %d at %s: got %v, want %v", i+1, s.at, got, s.want)
				}
				if got := l.next(); got != s.next {
					t.Errorf("step %d at %s: got next %s, want %s", i+1, s.at, got, s.next)
				}
			}
			if l.stopped != c.stopped {
				t.Errorf("got stopped %q, want %q", l.stopped, c.stopped)
			}
		})
	}
}
