package storetest

import (
	"cmp"
	"context"
	"slices"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func expiredChecks() []Check {
	return []Check{
		{"S91", "Expired/lists_ended_leases", "Expired lists the running runs whose lease has ended, and no others, with their attempt.", leaseStore, expiredLists},
		{"S92", "Expired/order_and_pages", "Expired answers by job and slot, a page at a time.", leaseStore, expiredPages},
		{"S93", "Expired/changes_nothing", "Asking for ended leases changes nothing: the holder can still extend.", leaseStore, expiredChangesNothing},
	}
}

func expiredLists(ctx context.Context, t *trial) {
	a, b := t.leases()
	live, ended, taken, released, done := t.claim(t.job(".live")), t.claim(t.job(".ended")), t.claim(t.job(".taken")), t.claim(t.job(".released")), t.claim(t.job(".done"))
	jobs := []string{live.Job, ended.Job, taken.Job, released.Job, done.Job, t.job(".nobody")}
	t.claimAll(ctx, a, live, ended, taken, released, done)
	t.endLease(ctx, a, ended)
	t.endLease(ctx, a, taken)
	t.endLease(ctx, a, done)
	t.finish(ctx, a, done, pluginapi.Succeeded)
	t.heartbeat(ctx, a, released, 0)
	second := t.rival(taken)
	t.claimOne(ctx, b, second, pluginapi.Won, "the takeover")
	t.expectExpired(ctx, b, pluginapi.ExpiredQuery{Jobs: jobs}, ref(ended, 1), ref(released, 1))
	t.endLease(ctx, b, second)
	t.expectExpired(ctx, a, pluginapi.ExpiredQuery{Jobs: jobs}, ref(ended, 1), ref(released, 1), ref(second, 2))
	t.expectExpired(ctx, a, pluginapi.ExpiredQuery{Jobs: []string{live.Job, ended.Job}}, ref(ended, 1))
	t.expectExpired(ctx, a, pluginapi.ExpiredQuery{Jobs: []string{live.Job}})
}

func expiredPages(ctx context.Context, t *trial) {
	a, b := t.leases()
	var runs []pluginapi.RunRef
	var jobs []string
	for _, suffix := range []string{".b", ".a", "-a", ".a.a"} {
		jobs = append(jobs, t.job(suffix))
		for slot := range 3 {
			c := t.claim(t.job(suffix))
			c.Slot -= pluginapi.Slot(1000 * slot)
			t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
			t.endLease(ctx, a, c)
			runs = append(runs, ref(c, 1))
		}
	}
	slices.SortFunc(runs, func(x, y pluginapi.RunRef) int {
		return cmp.Or(cmp.Compare(x.Job, y.Job), cmp.Compare(x.Slot, y.Slot))
	})
	t.expectExpired(ctx, b, pluginapi.ExpiredQuery{Jobs: jobs}, runs...)
	for start := 0; start < len(runs); start += 5 {
		query := pluginapi.ExpiredQuery{Jobs: jobs, Limit: 5}
		if start > 0 {
			query.After = runs[start-1]
		}
		t.expectExpired(ctx, b, query, runs[start:min(start+5, len(runs))]...)
	}
	t.expectExpired(ctx, b, pluginapi.ExpiredQuery{Jobs: jobs, Limit: 5, After: runs[len(runs)-1]})
}

func expiredChangesNothing(ctx context.Context, t *trial) {
	a, b := t.leases()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.endLease(ctx, a, c)
	for _, s := range []pluginapi.LeaseStore{a, b, a} {
		t.expectExpired(ctx, s, pluginapi.ExpiredQuery{Jobs: []string{c.Job}}, ref(c, 1))
	}
	if got := t.heartbeat(ctx, a, c, long); got.Verdict != pluginapi.Won {
		t.errorf("heartbeat after Expired: got %s (%v), want won", got.Verdict, got.Err)
	}
	t.expectExpired(ctx, b, pluginapi.ExpiredQuery{Jobs: []string{c.Job}})
}

// ref names the claim's run.
func ref(c pluginapi.Claim, attempt int) pluginapi.RunRef {
	return pluginapi.RunRef{Job: c.Job, Slot: c.Slot, Attempt: attempt}
}

// expectExpired reports an answer to the query other than the runs wanted, in their order.
func (t *trial) expectExpired(ctx context.Context, s pluginapi.LeaseStore, query pluginapi.ExpiredQuery, want ...pluginapi.RunRef) {
	got, err := s.Expired(ctx, query)
	if err != nil {
		t.fatalf("expired: %v", err)
	}
	if !slices.Equal(got, want) {
		t.errorf("expired, limit %d: got %v, want %v", query.Limit, got, want)
	}
}
