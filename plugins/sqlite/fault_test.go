package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// expectCode wants an error of this code that says this.
func expectCode(t *testing.T, err error, code pluginapi.Code, says string) {
	t.Helper()
	if err == nil || pluginapi.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v; want %s, and %q", err, code, says)
	}
}

// locked returns a store on a file whose write lock another process has until resume is called.
func locked(t *testing.T, more ...any) (s *sqlite.Store, resume func()) {
	t.Helper()
	path := newFile(t)
	s = openStore(t, path, more...)
	expect(t, s, newClaim("before"), pluginapi.Won) // the writer has its connection
	resume, err := lockOut(t.Context(), raw(t, path, ""))
	if err != nil {
		t.Fatal(err)
	}
	return s, resume
}

func TestBusyFileIsUnavailableAfterBusyTimeout(t *testing.T) {
	s, resume := locked(t, "busy_timeout", "100ms")
	c := newClaim("job")
	_, err := s.Claim(t.Context(), []pluginapi.Claim{c})
	expectCode(t, err, pluginapi.Unavailable, "busy_timeout")
	resume()
	expect(t, s, rival(c), pluginapi.Won) // unavailable: nothing was written
}

func TestLoserIsAnsweredWhileAnotherWrites(t *testing.T) {
	path := newFile(t)
	s := openStore(t, path)
	live, done, late := newClaim("live"), newClaim("done"), newClaim("late")
	late.Slot -= pluginapi.Slot(2 * time.Hour.Milliseconds())
	expect(t, s, live, pluginapi.Won)
	expect(t, s, done, pluginapi.Won)
	finish(t, s, done, pluginapi.Failed)
	resume, err := lockOut(t.Context(), raw(t, path, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resume()
	expect(t, s, rival(live), pluginapi.Running)
	expect(t, s, live, pluginapi.Won)
	expect(t, s, rival(done), pluginapi.Done)
	expect(t, s, late, pluginapi.Late)
	busy := newClaim("live")
	busy.Slot, busy.Overlap = live.Slot+1, pluginapi.OverlapSkip
	expect(t, s, busy, pluginapi.Overlapping)
	if page, err := s.Runs(t.Context(), pluginapi.RunsQuery{}); err != nil || len(page.Runs) != 2 {
		t.Errorf("runs: %v, %v; want 2", page.Runs, err)
	}
}

// The writer takes one request and waits for the lock: that one may be carried out. Those
// behind it haven't been taken, so they aren't.
func TestCallerThatGivesUpIsToldTheTruth(t *testing.T) {
	s, resume := locked(t)
	claims := make([]pluginapi.Claim, 8)
	errs := make(chan error, len(claims))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for i := range claims {
		claims[i] = newClaim(fmt.Sprintf("job-%d", i))
		go func() {
			_, err := s.Claim(ctx, claims[i:i+1])
			errs <- err
		}()
	}
	codes := map[pluginapi.Code]int{}
	for range claims {
		err := <-errs
		if err == nil {
			t.Fatal("a claim was answered while the file was locked")
		}
		codes[pluginapi.CodeOf(err)]++
	}
	// On a slow machine the time may be up before the writer has taken any.
	if codes[pluginapi.Ambiguous] > 1 || codes[pluginapi.Ambiguous]+codes[pluginapi.Unavailable] != len(claims) {
		t.Errorf("got %v, want at most one ambiguous and the rest unavailable", codes)
	}
	resume()
	for _, c := range claims {
		expect(t, s, c, pluginapi.Won) // the same token finds out, or wins now
		expect(t, s, rival(c), pluginapi.Running)
	}
}

func TestUnsoundRowFailsAloneAndIsLeftAlone(t *testing.T) {
	for name, harm := range map[string]string{
		"attempt 0":          "attempt = 0",
		"attempt below 0":    "attempt = -9223372036854775808",
		"no token":           "token = ''",
		"unknown outcome":    "outcome = 9",
		"negative outcome":   "outcome = -1",
		"too many released":  "released = 7",
		"released below 0":   "released = -1",
		"several at a time":  "outcome = 77, attempt = -3, token = '', claimed_ms = 9223372036854775807",
		"released, not bool": "given_up = 3, attempt = 0",
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			s := openStore(t, path)
			bad, good := newClaim("bad"), newClaim("good")
			expect(t, s, bad, pluginapi.Won)
			expect(t, s, good, pluginapi.Won)
			db := raw(t, path, "&_pragma=ignore_check_constraints(1)")
			execute(t, db, "UPDATE runs SET "+harm+" WHERE job = 'bad'")
			before := dump(t, path)

			results, err := s.Claim(t.Context(), []pluginapi.Claim{rival(good), rival(bad), good, bad})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []pluginapi.Verdict{pluginapi.Running, 0, pluginapi.Won, 0} {
				if results[i].Verdict != want || want == 0 && results[i].Err.Code != pluginapi.Internal {
					t.Errorf("claim %d: got %s (%v), want %s or an internal error", i, results[i].Verdict, results[i].Err, want)
				}
			}
			if after := dump(t, path); after != before {
				t.Errorf("the row is %s now, was %s", after, before)
			}
			// Its holder may still get through, or be told.
			beat, end := heartbeat(t, s, bad, time.Minute), finish(t, s, bad, pluginapi.Succeeded)
			for _, err := range []*pluginapi.Error{beat.Err, end.Err} {
				if err != nil && err.Code != pluginapi.Internal && err.Code != pluginapi.Conflict {
					t.Errorf("holder: got %v, want no error, or an internal one", err)
				}
			}
			if got := heartbeat(t, s, good, time.Hour); got.Verdict != pluginapi.Won {
				t.Errorf("heartbeat of the neighbour: got %s (%v), want won", got.Verdict, got.Err)
			}
			if _, err := s.Runs(t.Context(), pluginapi.RunsQuery{}); err != nil {
				t.Errorf("runs: %v", err)
			}
			if _, err := s.Expired(t.Context(), pluginapi.ExpiredQuery{}); err != nil {
				t.Errorf("expired: %v", err)
			}
		})
	}
}

// dump is the row of the job called bad.
func dump(t *testing.T, path string) (row string) {
	t.Helper()
	err := raw(t, path, "").QueryRowContext(t.Context(),
		"SELECT concat_ws('|', outcome, token, attempt, released, given_up, instance, claimed_ms, lease_end_ns, finished_ms) FROM runs WHERE job = 'bad'").Scan(&row)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func TestSchemaRefusesUnsoundRows(t *testing.T) {
	path := newFile(t)
	expect(t, openStore(t, path), newClaim("job"), pluginapi.Won)
	db := raw(t, path, "")
	for _, harm := range []string{
		"outcome = 6", "outcome = -1", "attempt = 0", "token = ''", "token = NULL", "released = 2", "released = -1",
		"given_up = 2", "slot_ms = 0", "job = ''", "lease_end_ns = 'infinity'", "slot_ms = 9223372036854775808", "claimed_ms = 1.5", "instance = x'00'",
	} {
		if _, err := db.ExecContext(t.Context(), "UPDATE runs SET "+harm); err == nil {
			t.Errorf("%s was taken", harm)
		}
	}
}

func TestDroppedTableIsInternalAndNamesTheFile(t *testing.T) {
	path := newFile(t)
	s := openStore(t, path)
	expect(t, s, newClaim("job"), pluginapi.Won)
	execute(t, raw(t, path, ""), "DROP TABLE runs")
	_, err := s.Claim(t.Context(), []pluginapi.Claim{newClaim("job")})
	expectCode(t, err, pluginapi.Internal, path)
	_, err = s.Heartbeat(t.Context(), []pluginapi.Heartbeat{{Job: "job", Slot: 1, Token: "t", Lease: time.Second}})
	expectCode(t, err, pluginapi.Internal, path)
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	s := openStore(t, newFile(t))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, configureErr := s.Configure(t.Context(), config(newFile(t)))
	_, healthErr := s.Health(t.Context())
	_, unconfiguredErr := sqlite.New(quiet).Health(t.Context())
	for _, err := range []error{configureErr, healthErr, unconfiguredErr} {
		expectCode(t, err, pluginapi.Unavailable, "store")
	}
}

// playCommit claims the same run each time it is told to, and prints the answer.
func playCommit(ctx context.Context, s *sqlite.Store, stdin io.Reader) error {
	c := newClaim("job")
	fmt.Println("ready")
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		results, err := s.Claim(ctx, []pluginapi.Claim{c})
		if err != nil {
			fmt.Println(pluginapi.CodeOf(err))
			continue
		}
		fmt.Println(results[0].Verdict)
	}
	return nil
}

// When the fsync of COMMIT fails, nobody knows what is on the disk.
func TestFailedFsyncOfCommitIsAmbiguous(t *testing.T) {
	strace, err := exec.LookPath("strace")
	require(t, err == nil, "strace, to let fsync fail")
	cmd := process(t.Context(), "commit", newFile(t))
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	say := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("the process said %q, want %q", lines.Text(), want)
		}
	}
	ask := func(want string) {
		t.Helper()
		if _, err := io.WriteString(in, "claim\n"); err != nil {
			t.Error(err)
		}
		say(want)
	}
	say("ready")

	inject := exec.CommandContext(t.Context(), strace, "-f", "-p", strconv.Itoa(cmd.Process.Pid),
		"-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	attached, err := inject.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := inject.Start(); err != nil {
		t.Fatal(err)
	}
	trace := bufio.NewReader(attached)
	if line, err := trace.ReadString('\n'); err != nil || !strings.Contains(line, "attached") {
		_, _ = in.Close(), cmd.Wait()
		require(t, false, "the right to trace a process: "+line)
	}
	traced := make(chan struct{})
	go func() {
		defer close(traced)
		_, _ = io.Copy(io.Discard, trace)
	}()
	ask("ambiguous")
	if err := inject.Process.Signal(syscall.SIGINT); err != nil { // strace lets go
		t.Fatal(err)
	}
	<-traced
	_ = inject.Wait() // it says that it was interrupted
	ask("won")
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}
