package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func historyChecks() []Check {
	return []Check{
		{"S96", "History/pages_newest_first", "Runs answers a job's runs once each, newest slot first, a page at a time.", history, historyPages},
		{"S97", "History/filters", "Runs answers only the job, the slot and the state asked for.", leaseRuns, historyFilters},
		{"S98", "History/attempts", "A run's attempts are in the history, oldest first, with who and when.", leaseRuns, historyAttempts},
		{"S99", "History/refused_without_one", "A store without a history answers Runs Unsupported.", anyStore, historyRefused},
	}
}

func historyPages(ctx context.Context, t *trial) {
	a, b := t.pair()
	var want []pluginapi.Slot
	for i := range 7 {
		c := t.claim(t.job(""))
		c.Slot += pluginapi.Slot(1000 * (i - 7)) // rising: some gate stores need that
		t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
		want = append(want, c.Slot)
	}
	slices.Reverse(want)
	var got []pluginapi.Slot
	query := pluginapi.RunsQuery{Job: t.job(""), Limit: 3}
	for range 2 * len(want) { // an end, should a store's cursor run in circles
		page, err := b.Runs(ctx, query)
		if err != nil {
			t.fatalf("runs: %v", err)
		}
		if len(page.Runs) > query.Limit {
			t.errorf("got %d runs, want at most %d", len(page.Runs), query.Limit)
		}
		for _, run := range page.Runs {
			got = append(got, run.Slot)
		}
		if query.Cursor = page.Next; query.Cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.errorf("slots of all pages: got %v, want %v", got, want)
	}
	page, err := b.Runs(ctx, pluginapi.RunsQuery{})
	if err != nil || !slices.IsSortedFunc(page.Runs, newestFirst) {
		t.errorf("runs of all jobs: %v; want the newest slot first, then by job", err)
	}
}

func newestFirst(a, b pluginapi.Run) int {
	return cmp.Or(cmp.Compare(b.Slot, a.Slot), cmp.Compare(a.Job, b.Job))
}

func historyFilters(ctx context.Context, t *trial) {
	a, b := t.leases()
	done, running, other := t.claim(t.job("")), t.claim(t.job("")), t.claim(t.job(".x"))
	done.Slot -= 1000
	t.claimAll(ctx, a, done, running, other)
	t.finish(ctx, a, done, pluginapi.Failed)
	for _, check := range []struct {
		query pluginapi.RunsQuery
		want  []pluginapi.Claim
	}{
		{pluginapi.RunsQuery{Job: done.Job}, []pluginapi.Claim{running, done}},
		{pluginapi.RunsQuery{Job: done.Job, Running: true}, []pluginapi.Claim{running}},
		{pluginapi.RunsQuery{Job: done.Job, Slot: done.Slot}, []pluginapi.Claim{done}},
		{pluginapi.RunsQuery{Job: done.Job, Slot: done.Slot, Running: true}, nil},
		{pluginapi.RunsQuery{Job: other.Job}, []pluginapi.Claim{other}},
		{pluginapi.RunsQuery{Job: t.job(".nobody")}, nil},
	} {
		page, err := b.Runs(ctx, check.query)
		if err != nil {
			t.fatalf("runs: %v", err)
		}
		same := func(r pluginapi.Run, c pluginapi.Claim) bool { return r.Job == c.Job && r.Slot == c.Slot }
		if !slices.EqualFunc(page.Runs, check.want, same) || page.Next != "" {
			t.errorf("%+v: got %d runs and next page %q, want %d runs and none", check.query, len(page.Runs), page.Next, len(check.want))
		}
	}
}

func historyAttempts(ctx context.Context, t *trial) {
	a, b := t.leases()
	first := t.claim(t.job(""))
	first.Instance = `it's "one" \ é`
	before := t.now(ctx).Truncate(time.Millisecond)
	t.claimOne(ctx, a, first, pluginapi.Won, "first claim")
	if run := t.record(ctx, b, first); run.Outcome != 0 || run.LeaseLeft <= 0 || run.LeaseLeft > long || !run.Finished.IsZero() {
		t.errorf("a running run: got outcome %q, %s left, finished %s; want none, the lease, never", run.Outcome, run.LeaseLeft, run.Finished)
	}
	t.endLease(ctx, a, first)
	if run := t.record(ctx, b, first); run.LeaseLeft >= 0 {
		t.errorf("lease left of an ended lease: got %s, want less than 0", run.LeaseLeft)
	}
	second := t.rival(first)
	t.claimOne(ctx, b, second, pluginapi.Won, "the takeover")
	run := t.record(ctx, a, second)
	after := t.now(ctx)
	if len(run.Attempts) != 2 {
		t.fatalf("got %d attempts, want 2", len(run.Attempts))
	}
	for i, attempt := range run.Attempts {
		instance := []string{first.Instance, second.Instance}[i]
		if attempt.Number != i+1 || attempt.Instance != instance || attempt.Released {
			t.errorf("attempt %d: got %+v, want number %d by %q", i, attempt, i+1, instance)
		}
		if attempt.Claimed.Before(before) || attempt.Claimed.After(after) {
			t.errorf("attempt %d: claimed %s, want from %s to %s", i, attempt.Claimed, before, after)
		}
	}
}

func historyRefused(ctx context.Context, t *trial) {
	if t.info.HasHistory {
		t.skipf("the store claims a history")
	}
	a, _ := t.pair()
	if _, err := a.Runs(ctx, pluginapi.RunsQuery{}); err == nil || pluginapi.CodeOf(err) != pluginapi.Unsupported {
		t.errorf("runs: got %v, want an unsupported error", err)
	}
}
