package storeplugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/claim"
	"github.com/anarchon-scheduler/anarchon/core/event"
	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
	"github.com/anarchon-scheduler/anarchon/core/storeplugin"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// client is a Store that runs, and what became of its status.
type client struct {
	*storeplugin.Store
	statuses chan storeplugin.Status
	stop     func() error // ends Run and returns its error
}

// options are those of a client of b.
func options(t *testing.T, b *backend, mode string) storeplugin.Options {
	t.Helper()
	settings, err := json.Marshal(map[string]string{"socket": b.socket, "mode": mode})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "a") //nolint:usetesting // short: a socket's path has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return storeplugin.Options{
		Plugin:     install(t),
		Settings:   settings,
		Instance:   "test",
		RuntimeDir: dir,
		Log:        slog.New(slog.DiscardHandler),
		Watch: storeplugin.Watch{
			Ping: 50 * time.Millisecond, PingTimeout: time.Second,
			Health: 20 * time.Millisecond, File: 20 * time.Millisecond,
		},
	}
}

// install copies this program to where a plugin may lie, and returns its path.
func install(t *testing.T) string {
	t.Helper()
	path := filepath.Join(private(t), "anarchon-plugin-test")
	replace(t, path)
	return path
}

// replace puts a new copy of this program in the place of path.
func replace(t *testing.T, path string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, in.Close(), out.Close(), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, o storeplugin.Options) *client {
	t.Helper()
	c := &client{statuses: make(chan storeplugin.Status, 10_000)} // more than any test sees
	o.OnStatus = func(s storeplugin.Status) { c.statuses <- s }
	store, err := storeplugin.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	c.Store = store
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx) }()
	c.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = c.stop() })
	return c
}

// await returns the next status of that state.
func (c *client) await(t *testing.T, state storeplugin.State) storeplugin.Status {
	t.Helper()
	for {
		select {
		case s := <-c.statuses:
			if s.State == state {
				return s
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the plugin doesn't become %s; it is %+v", state, c.Status())
		}
	}
}

func aClaim(slot pluginapi.Slot) pluginapi.Claim {
	return pluginapi.Claim{
		Job: "a", Slot: slot, Token: pluginapi.NewToken(), Instance: "test",
		Lease: time.Minute, MaxLate: time.Minute, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
	}
}

func now() pluginapi.Slot { return pluginapi.SlotOf(time.Now()) }

func mustClaim(t *testing.T, c *client, slot pluginapi.Slot) {
	t.Helper()
	result, err := c.Claim(t.Context(), aClaim(slot))
	if err != nil || result.Verdict != pluginapi.Won {
		t.Errorf("claim: got %s, %v, want won", result.Verdict, err)
	}
}

func code(err error) pluginapi.Code {
	if err == nil {
		return -1
	}
	return pluginapi.CodeOf(err)
}

func TestAllCallsGoThrough(t *testing.T) {
	c := open(t, options(t, newBackend(t).start(t), ""))
	ctx, first := t.Context(), aClaim(now())
	if result, err := c.Claim(ctx, first); err != nil || result.Verdict != pluginapi.Won || result.Attempt != 1 {
		t.Errorf("claim: got %+v, %v", result, err)
	}
	beat := pluginapi.Heartbeat{Job: first.Job, Slot: first.Slot, Token: first.Token, Lease: time.Minute}
	if result, err := c.Heartbeat(ctx, beat); err != nil || result.Verdict != pluginapi.Won {
		t.Errorf("heartbeat: got %+v, %v", result, err)
	}
	end := pluginapi.Finish{Job: first.Job, Slot: first.Slot, Token: first.Token, Outcome: pluginapi.Succeeded}
	if result, err := c.Finish(ctx, end); err != nil || result.Verdict != pluginapi.Done {
		t.Errorf("finish: got %+v, %v", result, err)
	}
	if refs, err := c.Expired(ctx, pluginapi.ExpiredQuery{}); err != nil || len(refs) != 0 {
		t.Errorf("expired: got %v, %v", refs, err)
	}
	if page, err := c.Runs(ctx, pluginapi.RunsQuery{}); err != nil || len(page.Runs) != 1 || page.Runs[0].Outcome != pluginapi.Succeeded {
		t.Errorf("runs: got %+v, %v", page, err)
	}
	if _, err := c.Health(ctx); err != nil {
		t.Errorf("health: %v", err)
	}
	if c.Info().Kind != pluginapi.Lease || c.Status().State != storeplugin.Ready || c.Status().PID == 0 {
		t.Errorf("got %+v, %+v", c.Info(), c.Status())
	}
}

func TestWrongItemIsThatCallersError(t *testing.T) {
	c := open(t, options(t, newBackend(t).start(t), ""))
	wrong := aClaim(now())
	wrong.Job = "NOT A NAME"
	if _, err := c.Claim(t.Context(), wrong); code(err) != pluginapi.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
	mustClaim(t, c, now())
}

func TestOpenReportsWrongSettings(t *testing.T) {
	b := newBackend(t)
	b.socket = ""
	_, err := storeplugin.Open(t.Context(), options(t, b, ""))
	problem, ok := errors.AsType[*pluginapi.Error](err)
	if !ok || problem.Code != pluginapi.Invalid || len(problem.Diagnostics) != 1 || problem.Diagnostics[0].Path[0].Name != "socket" {
		t.Errorf("got %v, want Invalid with a diagnostic about socket", err)
	}
}

func TestOpenReportsWhatIsNoPlugin(t *testing.T) {
	o := options(t, newBackend(t), "")
	o.Plugin = put(t, private(t), "anarchon-plugin-test", 0o755)
	if _, err := storeplugin.Open(t.Context(), o); err == nil {
		t.Error("an empty file was opened as a plugin")
	}
}

// A backend that is away doesn't keep the instance from starting: calls wait.
func TestBackendThatIsAwayIsAwaited(t *testing.T) {
	b := newBackend(t)
	c := open(t, options(t, b, ""))
	status := c.await(t, storeplugin.Configuring)
	for status.Reason == "" {
		status = c.await(t, storeplugin.Configuring)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Claim(soon, aClaim(now())); code(err) != pluginapi.Unavailable {
		t.Errorf("got %v, want Unavailable: it was never sent", err)
	}
	b.start(t)
	mustClaim(t, c, now())
	if after := c.Status(); after.Restarts != 0 || after.PID != status.PID {
		t.Errorf("the process was restarted: %+v", after)
	}
}

func TestIllBackendIsDegradedAndCallsGoThrough(t *testing.T) {
	b := newBackend(t).start(t)
	c := open(t, options(t, b, ""))
	c.await(t, storeplugin.Ready)
	b.ill.Store(true)
	if s := c.await(t, storeplugin.Degraded); !strings.Contains(s.Reason, "ill") {
		t.Errorf("got reason %q", s.Reason)
	}
	mustClaim(t, c, now())
	b.ill.Store(false)
	if s := c.await(t, storeplugin.Ready); s.Restarts != 0 {
		t.Errorf("the process was restarted: %+v", s)
	}
}

func TestKilledPluginIsReplaced(t *testing.T) {
	c := open(t, options(t, newBackend(t).start(t), ""))
	pid := c.await(t, storeplugin.Ready).PID
	for i := range 5 {
		kill(t, pid, syscall.SIGKILL)
		c.await(t, storeplugin.Backoff)
		status := c.await(t, storeplugin.Ready)
		if status.PID == pid || status.Restarts != i+1 {
			t.Errorf("kill %d: got %+v after pid %d", i, status, pid)
		}
		pid = status.PID
		mustClaim(t, c, now()+pluginapi.Slot(i))
	}
}

func TestHangingPluginIsKilledAndReplaced(t *testing.T) {
	c := open(t, options(t, newBackend(t).start(t), ""))
	pid := c.await(t, storeplugin.Ready).PID
	kill(t, pid, syscall.SIGSTOP)
	if s := c.await(t, storeplugin.Backoff); !strings.Contains(s.Reason, "pings") {
		t.Errorf("got reason %q", s.Reason)
	}
	mustClaim(t, c, now())
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the stopped process is still there: %v", err)
	}
}

func TestTwoWinnersAreNotBelieved(t *testing.T) {
	o := options(t, newBackend(t).start(t), "two_winners")
	c := open(t, o)
	slot := now()
	mustClaim(t, c, slot)
	if _, err := c.Claim(t.Context(), aClaim(slot)); code(err) != pluginapi.Internal {
		t.Errorf("second winner: got %v, want Internal", err)
	}
	if s := c.await(t, storeplugin.Quarantined); !strings.Contains(s.Reason, "two claims") || s.PID != 0 {
		t.Errorf("got %+v", s)
	}
	began := time.Now()
	if _, err := c.Claim(t.Context(), aClaim(slot+1)); code(err) != pluginapi.Unavailable || time.Since(began) > 10*time.Second {
		t.Errorf("later claim: got %v after %s, want Unavailable at once", err, time.Since(began))
	}
	replace(t, o.Plugin) // somebody acts
	c.await(t, storeplugin.Ready)
	mustClaim(t, c, slot+2)
}

func TestUnfitBackendIsQuarantined(t *testing.T) {
	c := open(t, options(t, newBackend(t).start(t), "unfit_backend"))
	if s := c.await(t, storeplugin.Quarantined); !strings.Contains(s.Reason, "too old") {
		t.Errorf("got %+v", s)
	}
}

func TestRunsEndEndsTheProcess(t *testing.T) {
	c := open(t, options(t, newBackend(t).start(t), ""))
	pid := c.await(t, storeplugin.Ready).PID
	if err := c.stop(); err != nil {
		t.Errorf("run: %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
	if _, err := c.Claim(t.Context(), aClaim(now())); code(err) != pluginapi.Unavailable {
		t.Errorf("claim: got %v, want Unavailable", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("second close: %v", err)
	}
	if s := c.Status(); s.State != storeplugin.Closed {
		t.Errorf("got %+v", s)
	}
}

func TestCloseWithoutRunEndsTheProcess(t *testing.T) {
	store, err := storeplugin.Open(t.Context(), options(t, newBackend(t), ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
}

// Two instances claim every slot while their plugins are killed at random instants: every
// slot is won once, and every win is finished.
func TestKillsInAClaimStorm(t *testing.T) {
	const slots, kills = 1500, 8
	b := newBackend(t).start(t)
	kinds := make(chan event.Kind)
	first := schedule.SlotOf(time.Now())
	var clients []*client
	for i := range 2 {
		c := open(t, options(t, b, ""))
		clients = append(clients, c)
		go storm(t, c, fmt.Sprint("instance-", i), first, slots, kinds)
	}
	go func() {
		for i := range kills {
			c := clients[i%len(clients)]
			before := b.claims.Load()
			for b.claims.Load() < before+100 && b.claims.Load() < 2*slots { // in the midst of it
				<-time.After(time.Millisecond)
			}
			if pid := c.Status().PID; pid != 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}()
	got := map[event.Kind]int{}
	for range len(clients) * slots {
		got[<-kinds]++
	}
	restarts := clients[0].Status().Restarts + clients[1].Status().Restarts
	t.Logf("%v, %d restarts, %d claims reached the backend", got, restarts, b.claims.Load())
	if got[event.Won] != slots || got[event.Taken] != slots || restarts == 0 {
		t.Errorf("got %v with %d restarts, want %d won and as many taken", got, restarts, slots)
	}
	page, err := b.store.Runs(t.Context(), pluginapi.RunsQuery{Limit: 2 * slots})
	if err != nil || len(page.Runs) != slots {
		t.Fatalf("got %d runs, %v, want %d", len(page.Runs), err, slots)
	}
	for _, run := range page.Runs {
		if run.Outcome != pluginapi.Succeeded || len(run.Attempts) != 1 {
			t.Errorf("%+v: want succeeded in one attempt", run)
		}
	}
}

// storm claims all slots, 64 at a time, and finishes what it wins.
func storm(t *testing.T, c *client, name string, first job.Slot, slots int, kinds chan<- event.Kind) {
	t.Helper()
	began := time.Now()
	claimer := claim.New(claim.Options{
		Store: c, Kind: pluginapi.Lease, Instance: name, Now: time.Now,
		Boot: func() time.Duration { return time.Since(began) },
		Log:  slog.New(slog.DiscardHandler),
	})
	j := &job.Job{Name: "a", KillAfter: time.Second, Timing: job.Timing{
		MaxLate: time.Minute, Lease: time.Minute, Heartbeat: 5 * time.Second, MaxAttempts: 3, Overlap: job.Allow,
	}}
	places := make(chan struct{}, 64) // how many are asked for at once
	for i := range slots {
		places <- struct{}{}
		go func() {
			answer := claimer.Acquire(t.Context(), j, first+job.Slot(i))
			if answer.Hold != nil {
				if err := answer.Hold.Finish(t.Context(), pluginapi.Succeeded, 0, ""); err != nil {
					t.Errorf("slot %d: finish: %v", i, err)
				}
			}
			<-places
			kinds <- answer.Kind
		}()
	}
}

func kill(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}
