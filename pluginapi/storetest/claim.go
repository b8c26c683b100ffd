package storetest

import (
	"context"
	"strings"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

func claimChecks() []Check {
	return []Check{
		{"S01", "Claim/first_claim_wins", "The first claim of a run is answered Won, attempt 1.", anyStore, firstClaimWins},
		{"S02", "Claim/second_token_loses", "A claim under another token doesn't win a run that is held.", anyStore, secondTokenLoses},
		{"S03", "Claim/same_token_wins_again", "A claim sent again, by any client, is answered as the first time.", anyStore, sameTokenWinsAgain},
		{"S04", "Claim/one_winner_of_64", "Of 64 concurrent claimers over 4 connections exactly one wins each run.", anyStore, oneWinnerOf64},
		{"S05", "Claim/names_never_meet", "Jobs whose names differ in any character are different jobs.", anyStore, namesNeverMeet},
		{"S06", "Claim/any_token", "Any printable ASCII token of up to 128 bytes works.", anyStore, anyToken},
		{"S07", "Claim/any_slot", "Slots of the same job are different runs, to the millisecond.", leaseStore, anySlot},
	}
}

func firstClaimWins(ctx context.Context, t *trial) {
	a, _ := t.pair()
	c := t.claim(t.job(""))
	got := t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.expectAttempt(got, pluginapi.Won, 1, "first claim")
	switch {
	case t.info.Kind == pluginapi.Lease && (got.LeaseLeft <= 0 || got.LeaseLeft > c.Lease):
		t.errorf("lease left: got %s, want more than 0 and at most the lease, %s", got.LeaseLeft, c.Lease)
	case t.info.Kind == pluginapi.Gate && got.LeaseLeft != 0:
		t.errorf("lease left: got %s, want 0 from a gate store", got.LeaseLeft)
	}
}

func secondTokenLoses(ctx context.Context, t *trial) {
	a, b := t.pair()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	for name, s := range map[string]pluginapi.Store{"the same client": a, "another client": b} {
		got := t.claimOne(ctx, s, t.rival(c), t.taken(), "another token, "+name)
		if got.Verdict == pluginapi.Running && (got.LeaseLeft <= 0 || got.LeaseLeft > c.Lease) {
			t.errorf("lease left with Running: got %s, want more than 0 and at most %s", got.LeaseLeft, c.Lease)
		}
		if got.Holder != "" && got.Holder != c.Instance {
			t.errorf("holder: got %q, want %q or nothing", got.Holder, c.Instance)
		}
	}
}

func sameTokenWinsAgain(ctx context.Context, t *trial) {
	a, b := t.pair()
	c := t.claim(t.job(""))
	t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
	t.claimOne(ctx, b, t.rival(c), t.taken(), "another token in between")
	for name, s := range map[string]pluginapi.Store{"the same client": a, "another client": b} {
		got := t.claimOne(ctx, s, c, pluginapi.Won, "sent again, "+name)
		t.expectAttempt(got, pluginapi.Won, 1, "sent again, "+name)
	}
}

func oneWinnerOf64(ctx context.Context, t *trial) {
	var runs []pluginapi.Claim
	for i := range min(32, t.maxBatch()) {
		runs = append(runs, t.claim(t.job("."+letters(i))))
	}
	t.race(ctx, runs, 64, 1)
}

func namesNeverMeet(ctx context.Context, t *trial) {
	a, b := t.pair()
	base := t.job("")
	var claims []pluginapi.Claim
	for _, suffix := range []string{"", ".x", ":x", "-x", "_x", "..x", "x", "0x", ".", ":", "-", "_", ".x.", "x_2e", ".x:1"} {
		claims = append(claims, t.claim(base+suffix))
	}
	claims = append(claims, t.claim(base+strings.Repeat("n", 128-len(base))), t.claim(base+strings.Repeat("n", 127-len(base))))
	for _, c := range claims {
		t.claimOne(ctx, a, c, pluginapi.Won, "first claim of "+c.Job)
	}
	for _, c := range claims {
		t.claimOne(ctx, b, c, pluginapi.Won, "the same token again for "+c.Job)
	}
}

func anyToken(ctx context.Context, t *trial) {
	a, b := t.pair()
	var printable strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		printable.WriteByte(c)
	}
	whole := printable.String() + strings.Repeat("%", 128)
	for i, token := range []string{t.mark + whole[:128-len(t.mark)], t.mark + `'`, t.mark + `"`, t.mark + `\`} {
		c := t.claim(t.job("." + letters(i)))
		c.Token = pluginapi.Token(token)
		t.claimOne(ctx, a, c, pluginapi.Won, "first claim")
		t.claimOne(ctx, b, c, pluginapi.Won, "the same token again")
		c.Token = pluginapi.Token(token[:len(token)-1] + "#")
		t.claimOne(ctx, b, c, t.taken(), "a token that differs in its last byte")
	}
}

func anySlot(ctx context.Context, t *trial) {
	a, b := t.pair()
	c := t.claim(t.job(""))
	for _, offset := range []pluginapi.Slot{0, -1, 1, -1000, -60_000} {
		c := t.rival(c)
		c.Slot += offset
		t.claimOne(ctx, a, c, pluginapi.Won, "first claim of the slot")
		t.claimOne(ctx, b, t.rival(c), pluginapi.Running, "another token for the slot")
	}
}

// letters returns a short name for a number.
func letters(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }
