package main

import (
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// No script can show this: the store that comes along is a lease store.
func TestPlanPromisesNoTakeoverOnAGateStore(t *testing.T) {
	s, err := schedule.Parse("0 2 * * *", schedule.Options{Job: "backup"})
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Name: "backup", Enabled: true, Schedule: s, Timing: job.DefaultTiming(s.MinGap())}
	if got := planOf(j, pluginapi.Gate, 0, 1).Failure; strings.Contains(got, "taken over") {
		t.Errorf("got %q; want no takeover", got)
	}
	if got := planOf(j, pluginapi.Lease, 0, 1).Failure; got != "taken over within 40s if its instance dies, at most 3 starts" {
		t.Errorf("got %q; want a takeover within lease + 2 heartbeats", got)
	}
}
