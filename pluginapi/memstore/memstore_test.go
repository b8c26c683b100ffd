package memstore_test

import (
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/memstore"
)

// clock is a wall clock that only moves when the test says so.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.UnixMilli(1_800_000_000_000)} }

func (c *clock) Now() time.Time { return c.now }

func claimOf(c *clock, job string) pluginapi.Claim {
	return pluginapi.Claim{
		Job: job, Slot: pluginapi.SlotOf(c.now), Token: pluginapi.NewToken(), Instance: "a",
		Lease: 30 * time.Second, MaxLate: time.Minute, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
	}
}

func claimOne(t *testing.T, s pluginapi.Store, c pluginapi.Claim) pluginapi.ClaimResult {
	t.Helper()
	results, err := s.Claim(t.Context(), []pluginapi.Claim{c})
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return results[0]
}

func TestForgettingNeverFreesASlot(t *testing.T) {
	c := newClock()
	s := memstore.New(memstore.Options{Now: c.Now, History: 2})
	var claims []pluginapi.Claim
	for i := range 5 {
		claim := claimOf(c, "job")
		claim.Slot += pluginapi.Slot(2 * i)
		claims = append(claims, claim)
		if got := claimOne(t, s, claim); got.Verdict != pluginapi.Won {
			t.Fatalf("run %d: got %v, want won", i, got.Verdict)
		}
		_, err := s.Finish(t.Context(), []pluginapi.Finish{{
			Job: "job", Slot: claim.Slot, Token: claim.Token, Outcome: pluginapi.Succeeded,
		}})
		if err != nil {
			t.Fatalf("finish: %v", err)
		}
	}
	page, err := s.Runs(t.Context(), pluginapi.RunsQuery{})
	if err != nil || len(page.Runs) != 2 {
		t.Fatalf("history: got %d runs and %v, want 2", len(page.Runs), err)
	}
	for i, want := range []pluginapi.Verdict{
		pluginapi.Late, pluginapi.Late, pluginapi.Late, pluginapi.Done, pluginapi.Done,
	} {
		claims[i].Token = pluginapi.NewToken()
		if got := claimOne(t, s, claims[i]); got.Verdict != want {
			t.Errorf("run %d again: got %v, want %v", i, got.Verdict, want)
		}
	}
	between := claims[1]
	between.Slot++ // never claimed; but the store can't know that any more
	if got := claimOne(t, s, between); got.Verdict != pluginapi.Late {
		t.Errorf("a slot below the newest forgotten one: got %v, want late", got.Verdict)
	}
}

func TestGateForgetsAfterItsWindow(t *testing.T) {
	c := newClock()
	s := memstore.New(memstore.Options{Now: c.Now, Window: time.Minute}).Gate()
	first, second := claimOf(c, "job"), claimOf(c, "job")
	for _, step := range []struct {
		after time.Duration
		claim pluginapi.Claim
		want  pluginapi.Verdict
	}{
		{0, first, pluginapi.Won},
		{time.Minute, second, pluginapi.Lost},
		{0, first, pluginapi.Won},
		{time.Millisecond, second, pluginapi.Won},
	} {
		c.now = c.now.Add(step.after)
		if got := claimOne(t, s, step.claim); got.Verdict != step.want {
			t.Errorf("at %s: got %v, want %v", c.now.Sub(first.Slot.Time()), got.Verdict, step.want)
		}
	}
	if _, ok := any(s).(pluginapi.LeaseStore); ok {
		t.Error("a gate client is a LeaseStore")
	}
}

func TestLeaseIsLiveUntilItsLastInstant(t *testing.T) {
	c := newClock()
	s := memstore.New(memstore.Options{Now: c.Now})
	claim, backup := claimOf(c, "job"), claimOf(c, "job")
	claimOne(t, s, claim)
	c.now = c.now.Add(claim.Lease)
	if got := claimOne(t, s, backup); got.Verdict != pluginapi.Running || got.LeaseLeft != 0 {
		t.Errorf("at lease_until: got %v with %s left, want running with 0", got.Verdict, got.LeaseLeft)
	}
	c.now = c.now.Add(time.Nanosecond)
	if got := claimOne(t, s, backup); got.Verdict != pluginapi.Won || got.Attempt != 2 {
		t.Errorf("after lease_until: got %v, attempt %d, want won, attempt 2", got.Verdict, got.Attempt)
	}
}

func TestClosingOneClientLeavesTheOthersOpen(t *testing.T) {
	c := newClock()
	s := memstore.New(memstore.Options{Now: c.Now})
	other := s.Open()
	claim := claimOf(c, "job")
	claimOne(t, s, claim)
	if err := s.Close(t.Context()); err != nil {
		t.Fatalf("close: %v", err)
	}
	if _, err := s.Claim(t.Context(), []pluginapi.Claim{claim}); err == nil || pluginapi.CodeOf(err) != pluginapi.Unavailable {
		t.Errorf("claim on the closed client: got %v, want unavailable", err)
	}
	if got := claimOne(t, other, claim); got.Verdict != pluginapi.Won {
		t.Errorf("same token on the other client: got %v, want won", got.Verdict)
	}
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "1800000000000/job", "-1/", "/", "x/job", "99999999999999999999/job", "1/a/b"} {
		f.Add(seed)
	}
	c := newClock()
	s := memstore.New(memstore.Options{Now: c.Now})
	if _, err := s.Claim(f.Context(), []pluginapi.Claim{claimOf(c, "job")}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		page, err := s.Runs(t.Context(), pluginapi.RunsQuery{Cursor: cursor})
		if err != nil && pluginapi.CodeOf(err) != pluginapi.Invalid {
			t.Errorf("cursor %q: got %v, want an invalid error or a page", cursor, err)
		}
		if err == nil && (len(page.Runs) > 1 || page.Next != "") {
			t.Errorf("cursor %q: got %d runs of 1, next %q", cursor, len(page.Runs), page.Next)
		}
	})
}
