package sqlite_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

func TestOldestRunsAreForgottenAndNeverFreed(t *testing.T) {
	const history, runs = 16, 60
	c := &clocks{}
	path := newFile(t)
	s := configure(t, sqlite.NewOn(quiet, sqlite.Machine{Now: c.now}), config(path, "history_size", history))
	begin := time.Now()
	var claims []pluginapi.Claim
	for i := range runs {
		claim := newClaim("job")
		claim.Slot = pluginapi.SlotOf(begin) + pluginapi.Slot(2*i)
		claims = append(claims, claim)
		expect(t, s, claim, pluginapi.Won)
		if i%3 == 0 { // a second attempt, so that there is an earlier one to forget
			heartbeat(t, s, claim, 0)
			claims[i] = rival(claim)
			expect(t, s, claims[i], pluginapi.Won)
		}
		finish(t, s, claims[i], pluginapi.Succeeded)
	}
	if n := count(t, s, "job"); n != runs {
		t.Errorf("%d runs are kept within ten minutes of their end, want all %d", n, runs)
	}
	c.pass(11 * time.Minute)
	last := newClaim("job")
	last.Slot = pluginapi.SlotOf(begin.Add(11 * time.Minute))
	expect(t, s, last, pluginapi.Won)
	finish(t, s, last, pluginapi.Succeeded)
	if n := count(t, s, "job"); n != history {
		t.Errorf("%d runs are kept, want %d", n, history)
	}
	for i, claim := range claims {
		want := pluginapi.Done
		if i < runs+1-history {
			want = pluginapi.Late
		}
		expect(t, s, rival(claim), want)
	}
	between := newClaim("job")
	between.Slot = claims[0].Slot + 1 // never claimed; but nobody can know that any more
	expect(t, s, between, pluginapi.Late)
	other := newClaim("other")
	other.Slot = between.Slot
	expect(t, s, other, pluginapi.Won)
	var attempts int
	if err := raw(t, path, "").QueryRowContext(t.Context(), "SELECT count(*) FROM attempts").Scan(&attempts); err != nil || attempts > history/3+1 {
		t.Errorf("%d earlier attempts are kept (%v), want only those of the runs that are", attempts, err)
	}
}

// count is how many runs of the job the history has.
func count(t *testing.T, s *sqlite.Store, job string) int {
	t.Helper()
	page, err := s.Runs(t.Context(), pluginapi.RunsQuery{Job: job, Limit: 500})
	if err != nil || page.Next != "" {
		t.Fatalf("runs: next %q, %v", page.Next, err)
	}
	return len(page.Runs)
}

func TestShrunkHistoryGoesInSteps(t *testing.T) {
	c := &clocks{}
	path := newFile(t)
	on := func(history int) *sqlite.Store {
		return configure(t, sqlite.NewOn(quiet, sqlite.Machine{Now: c.now}), config(path, "history_size", history))
	}
	s := on(1000)
	run := func(i int) {
		claim := newClaim("job")
		claim.Slot += pluginapi.Slot(i)
		expect(t, s, claim, pluginapi.Won)
		finish(t, s, claim, pluginapi.Succeeded)
	}
	for i := range 400 {
		run(i)
	}
	c.pass(11 * time.Minute)
	s = on(0)
	var left []int
	for i := range 5 {
		run(600_000 + i)
		left = append(left, count(t, s, "job"))
	}
	if got, want := fmt.Sprint(left), "[273 146 19 4 5]"; got != want {
		t.Errorf("runs left after each end: got %s, want %s", got, want)
	}
}

func TestPagesBreakBetweenJobsOfOneSlot(t *testing.T) {
	s := openStore(t, newFile(t))
	var want []string
	slot := newClaim("x").Slot
	for _, job := range []string{"a", "b", "c", "d", "e"} {
		claim := newClaim(job)
		claim.Slot = slot
		expect(t, s, claim, pluginapi.Won)
		want = append(want, job)
	}
	var got []string
	for query := (pluginapi.RunsQuery{Limit: 2}); ; {
		page, err := s.Runs(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range page.Runs {
			got = append(got, run.Job)
		}
		if query.Cursor = page.Next; query.Cursor == "" {
			break
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "1/job", "-1/job", "9223372036854775807/a", "x/y", "1", "1/", "1/../x", "1/job\x00"} {
		f.Add(seed)
	}
	s := sqlite.New(slog.New(slog.DiscardHandler))
	if _, err := s.Configure(f.Context(), config(f.TempDir()+"/anarchon.db")); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close(context.WithoutCancel(f.Context())) })
	f.Fuzz(func(t *testing.T, cursor string) {
		page, err := s.Runs(t.Context(), pluginapi.RunsQuery{Cursor: cursor})
		if err != nil && pluginapi.CodeOf(err) != pluginapi.Invalid || len(page.Runs) != 0 {
			t.Errorf("got %v, %v", page, err)
		}
	})
}
