package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// play is what this binary does as another process of a test.
func play(role string, args []string) int {
	ctx := context.Background()
	store := sqlite.New(quiet)
	var err error
	if _, err = store.Configure(ctx, config(args[0])); err == nil {
		switch role {
		case "race":
			err = playRace(ctx, store, args[1:])
		case "flood":
			err = playFlood(ctx, store)
		case "commit":
			err = playCommit(ctx, store, os.Stdin)
		default:
			err = fmt.Errorf("no role %q", role)
		}
	}
	if closeErr := store.Close(ctx); err == nil {
		err = closeErr
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// raceRuns is how many runs each process of a race claims.
const raceRuns = 600

// playRace claims the same runs as all others, in an order and in batches of its own, and
// prints those that it won: "job token".
func playRace(ctx context.Context, s *sqlite.Store, args []string) error {
	slot, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	order := rand.Perm(raceRuns)
	for len(order) > 0 {
		n := min(1+rand.IntN(40), len(order))
		var claims []pluginapi.Claim
		for _, i := range order[:n] {
			c := newClaim(fmt.Sprintf("job-%d", i))
			c.Slot = pluginapi.Slot(slot)
			claims = append(claims, c)
		}
		order = order[n:]
		results, err := s.Claim(ctx, claims)
		if err != nil {
			return err
		}
		for i, r := range results {
			switch r.Verdict {
			case pluginapi.Won:
				fmt.Println(claims[i].Job, claims[i].Token)
			case pluginapi.Running:
			default:
				return fmt.Errorf("%s is answered %s: %w", claims[i].Job, r.Verdict, r.Err)
			}
		}
	}
	return nil
}

func TestProcessesRaceForTheSameRuns(t *testing.T) {
	path, slot := newFile(t), strconv.FormatInt(time.Now().UnixMilli(), 10)
	type racer struct {
		in  io.WriteCloser
		out *bufio.Scanner
		end func() error
	}
	var racers []racer
	for range 6 { // they also create the file together
		cmd := process(t.Context(), "race", path, slot)
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if inErr != nil || outErr != nil || cmd.Start() != nil {
			t.Fatal("start a process:", inErr, outErr)
		}
		racers = append(racers, racer{in, bufio.NewScanner(out), cmd.Wait})
	}
	for i, r := range racers {
		if !r.out.Scan() || r.out.Text() != "ready" {
			t.Fatalf("process %d said %q, want ready", i, r.out.Text())
		}
	}
	for _, r := range racers {
		if _, err := io.WriteString(r.in, "go\n"); err != nil {
			t.Fatal(err)
		}
	}
	winners := map[string][]string{}
	for i, r := range racers {
		for r.out.Scan() {
			job, token, _ := strings.Cut(r.out.Text(), " ")
			winners[job] = append(winners[job], token)
		}
		if err := r.end(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if len(winners) != raceRuns {
		t.Errorf("%d runs were won, want %d", len(winners), raceRuns)
	}
	for job, tokens := range winners {
		if len(tokens) != 1 {
			t.Errorf("%s: %d winners, want 1", job, len(tokens))
		}
	}
}

// playFlood claims and ends runs as fast as it can, for ever. It prints each claim before it
// is sent, "? job slot token", and when it was won, "! job".
func playFlood(ctx context.Context, s *sqlite.Store) error {
	for n := 0; ; n++ {
		claims := make([]pluginapi.Claim, 32)
		var before, after strings.Builder
		for i := range claims {
			claims[i] = newClaim(fmt.Sprintf("job-%d", n*len(claims)+i))
			fmt.Fprintf(&before, "? %s %d %s\n", claims[i].Job, claims[i].Slot, claims[i].Token)
			fmt.Fprintf(&after, "! %s\n", claims[i].Job)
		}
		fmt.Print(before.String())
		results, err := s.Claim(ctx, claims)
		if err != nil {
			return err
		}
		for i, r := range results {
			if r.Verdict != pluginapi.Won {
				return fmt.Errorf("%s is answered %s: %w", claims[i].Job, r.Verdict, r.Err)
			}
		}
		fmt.Print(after.String())
	}
}

// A writer is killed in the middle of its work, again and again. What it was told is true
// afterwards, what it wasn't told is found out with the same token, and nothing is half done.
func TestKilledWriterLosesNothing(t *testing.T) {
	path := newFile(t)
	for round := range 5 {
		sent, won := map[string]pluginapi.Claim{}, map[string]bool{}
		cmd := process(t.Context(), "flood", path)
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			t.Fatal("start a process:", err)
		}
		enough := 200 + rand.IntN(400)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			f := strings.Fields(lines.Text())
			switch {
			case len(f) == 4 && f[0] == "?":
				slot, _ := strconv.ParseInt(f[2], 10, 64)
				c := newClaim(f[1])
				c.Slot, c.Token = pluginapi.Slot(slot), pluginapi.Token(f[3])
				sent[c.Job] = c
			case len(f) == 2 && f[0] == "!":
				won[f[1]] = true
			}
			if len(won) == enough {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself, want it killed")
		}
		if len(won) < enough {
			t.Fatalf("round %d: %d runs were won before the kill, want %d", round, len(won), enough)
		}
		checkAfterKill(t, path, sent, won)
	}
}

func checkAfterKill(t *testing.T, path string, sent map[string]pluginapi.Claim, won map[string]bool) {
	t.Helper()
	store := openStore(t, path)
	var verdict string
	if err := raw(t, path, "").QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity_check: %q, %v", verdict, err)
	}
	for claims := range slices.Chunk(slices.Collect(maps.Values(sent)), 256) {
		rivals := slices.Clone(claims)
		for i := range rivals {
			rivals[i] = rival(rivals[i])
		}
		again, err := store.Claim(t.Context(), claims)
		if err != nil {
			t.Fatal(err)
		}
		others, err := store.Claim(t.Context(), rivals)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range claims {
			if again[i].Verdict != pluginapi.Won || again[i].Attempt != 1 {
				t.Errorf("%s (answered: %t), same token: got %s, want won", c.Job, won[c.Job], again[i].Verdict)
			}
			if others[i].Verdict != pluginapi.Running {
				t.Errorf("%s, another token: got %s, want running", c.Job, others[i].Verdict)
			}
		}
	}
}
