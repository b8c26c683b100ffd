package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/plugins/sqlite"
)

// roleEnv makes the test binary play one process of a test instead of running the tests.
const roleEnv = "ANARCHON_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// process returns this test binary as another process, playing a role.
func process(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// require skips a test that lacks something, or fails it where nothing may be missing.
func require(t *testing.T, ok bool, what string) {
	t.Helper()
	switch {
	case ok:
	case os.Getenv("ANARCHON_TEST_REQUIRE") == "1":
		t.Fatal("missing: " + what)
	default:
		t.Skip("missing: " + what)
	}
}

var quiet = slog.New(slog.DiscardHandler)

// config is a configuration with this path and more settings, given as name, value, ….
func config(path string, more ...any) pluginapi.Config {
	settings := map[string]any{"path": path}
	for i := 0; i < len(more); i += 2 {
		name, _ := more[i].(string)
		settings[name] = more[i+1]
	}
	text, _ := json.Marshal(settings) //nolint:errchkjson // plain values
	return pluginapi.Config{Settings: text, Instance: "test"}
}

// configure configures the store and closes it at the end of the test.
func configure(t *testing.T, s *sqlite.Store, c pluginapi.Config) *sqlite.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if _, err := s.Configure(t.Context(), c); err != nil {
		t.Fatalf("configure: %v", err)
	}
	return s
}

// newFile returns the path of a database that doesn't exist yet.
func newFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "anarchon.db")
}

// openStore returns a store on the file.
func openStore(t *testing.T, path string, more ...any) *sqlite.Store {
	t.Helper()
	return configure(t, sqlite.New(quiet), config(path, more...))
}

// refused configures a store and returns the error that it must give.
func refused(t *testing.T, s *sqlite.Store, c pluginapi.Config) *pluginapi.Error {
	t.Helper()
	_, err := s.Configure(t.Context(), c)
	if closeErr := s.Close(t.Context()); closeErr != nil {
		t.Errorf("close: %v", closeErr)
	}
	if err == nil {
		t.Fatal("configure: got no error")
	}
	return pluginapi.AsError("configure", err)
}

// raw is a client that isn't ours.
func raw(t *testing.T, path, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=5000"+dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// newClaim claims a run that is due now.
func newClaim(job string) pluginapi.Claim {
	return pluginapi.Claim{
		Job: job, Slot: pluginapi.SlotOf(time.Now()), Token: pluginapi.NewToken(), Instance: "a",
		Lease: time.Minute, MaxLate: time.Hour, MaxAttempts: 3, Overlap: pluginapi.OverlapAllow,
	}
}

// rival is another's claim of the same run.
func rival(c pluginapi.Claim) pluginapi.Claim {
	c.Token = pluginapi.NewToken()
	return c
}

func claimOne(t *testing.T, s pluginapi.Store, c pluginapi.Claim) pluginapi.ClaimResult {
	t.Helper()
	results, err := s.Claim(t.Context(), []pluginapi.Claim{c})
	if err != nil {
		t.Fatalf("claim %s: %v", c.Job, err)
	}
	return results[0]
}

// expect claims and wants the verdict.
func expect(t *testing.T, s pluginapi.Store, c pluginapi.Claim, want pluginapi.Verdict) pluginapi.ClaimResult {
	t.Helper()
	got := claimOne(t, s, c)
	if got.Verdict != want {
		t.Fatalf("claim of %s, slot %d: got %s (%v), want %s", c.Job, c.Slot, got.Verdict, got.Err, want)
	}
	return got
}

func finish(t *testing.T, s pluginapi.LeaseStore, c pluginapi.Claim, outcome pluginapi.Outcome) pluginapi.FinishResult {
	t.Helper()
	results, err := s.Finish(t.Context(), []pluginapi.Finish{{Job: c.Job, Slot: c.Slot, Token: c.Token, Outcome: outcome}})
	if err != nil {
		t.Fatalf("finish %s: %v", c.Job, err)
	}
	return results[0]
}

func heartbeat(t *testing.T, s pluginapi.LeaseStore, c pluginapi.Claim, lease time.Duration) pluginapi.HeartbeatResult {
	t.Helper()
	results, err := s.Heartbeat(t.Context(), []pluginapi.Heartbeat{{Job: c.Job, Slot: c.Slot, Token: c.Token, Lease: lease}})
	if err != nil {
		t.Fatalf("heartbeat %s: %v", c.Job, err)
	}
	return results[0]
}

// clocks are both clocks of a machine, under the test's control. They also go on by
// themselves.
type clocks struct {
	mu         sync.Mutex // guards wall and boot
	wall, boot time.Duration
}

var started = time.Now()

func (c *clocks) now() (time.Time, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.wall), time.Since(started) + time.Hour + c.boot
}

// pass lets time pass; step corrects the wall clock.
func (c *clocks) pass(d time.Duration) { c.move(d, d) }
func (c *clocks) step(d time.Duration) { c.move(d, 0) }

func (c *clocks) move(wall, boot time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.boot = c.wall+wall, c.boot+boot
}
