package jobfile_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/jobfile"
	"github.com/anarchon-scheduler/anarchon/core/schedule"
)

// find returns the job of that name.
func find(t *testing.T, c *jobfile.Config, name string) *job.Job {
	t.Helper()
	for _, j := range c.Jobs {
		if j.Name == name {
			return j
		}
	}
	t.Fatalf("there is no job %q", name)
	return nil
}

// TestLoad_job: a job has its own settings first, then those of the defaults block, then the
// built-in ones; a block replaces the whole block.
func TestLoad_job(t *testing.T) {
	c, _ := load("testdata/valid/full.hcl")
	backup := find(t, c, "backup")
	if want := (job.Timing{
		Jitter: 5 * time.Minute, MaxLate: 15 * time.Minute, Lease: time.Minute, Heartbeat: 10 * time.Second,
		Overlap: job.Allow, MaxAttempts: 1, OnLost: job.Continue,
	}); backup.Timing != want {
		t.Errorf("got timing %+v, want %+v", backup.Timing, want)
	}
	if backup.Timeout != 45*time.Minute || backup.KillAfter != 30*time.Second {
		t.Errorf("got timeout %s, kill_after %s; want 45m, 30s", backup.Timeout, backup.KillAfter)
	}
	if want := (schedule.DST{Gap: "skip", Overlap: "both"}); backup.Schedule.DST() != want {
		t.Errorf("got dst %+v, want %+v", backup.Schedule.DST(), want)
	}
	if got := backup.Schedule.Zone().String(); got != "Europe/Berlin" {
		t.Errorf("got zone %s, want that of the defaults block", got)
	}
	if want := []string{"pg_dump", "orders"}; !slices.Equal(backup.Exec.Command, want) || backup.Exec.Dir != "/var/lib/backup" {
		t.Errorf("got %q in %q, want %q", backup.Exec.Command, backup.Exec.Dir, want)
	}
	if want := map[string]string{"PGUSER": "backup", "PGHOST": "db-local", "PGPASSWORD": "hunter2"}; !maps.Equal(backup.Exec.Env, want) {
		t.Errorf("got env %q, want %q", backup.Exec.Env, want)
	}
	if backup.Store != "main" || !backup.Enabled || backup.Description == "" {
		t.Errorf("got store %q, enabled %t, description %q", backup.Store, backup.Enabled, backup.Description)
	}

	poll := find(t, c, "poll:eu.west_1")
	if want := (job.Timing{
		Jitter: 2 * time.Second, MaxLate: 2 * time.Minute, Lease: time.Minute, Heartbeat: 10 * time.Second,
		Overlap: job.Skip, MaxAttempts: 3, OnLost: job.Kill,
	}); poll.Timing != want {
		t.Errorf("got timing %+v, want %+v", poll.Timing, want)
	}
	invoices := find(t, c, "send-invoices")
	if want := (schedule.DST{Gap: "end", Overlap: "first"}); invoices.Schedule.DST() != want {
		t.Errorf("got dst %+v, want %+v", invoices.Schedule.DST(), want)
	}
	if invoices.Enabled || invoices.Store != "other" {
		t.Errorf("got enabled %t, store %q; want false, other", invoices.Enabled, invoices.Store)
	}
}

// TestLoad_agent: what is written is taken, and what isn't has its default.
func TestLoad_agent(t *testing.T) {
	c, _ := load("testdata/valid/full.hcl")
	if want := (jobfile.Agent{Name: "node-local", DataDir: "/var/lib/anarchon", MaxRunning: 8, DrainTimeout: 90 * time.Second}); c.Agent != want {
		t.Errorf("got %+v, want %+v", c.Agent, want)
	}
	c, _ = load("testdata/valid/minimal.hcl")
	if want := (jobfile.Agent{MaxRunning: 32, DrainTimeout: time.Minute}); c.Agent != want {
		t.Errorf("got %+v, want %+v", c.Agent, want)
	}
}

// TestLoad_no_store: without a store block there is the embedded one, and jobs use it.
func TestLoad_no_store(t *testing.T) {
	c, _ := load("testdata/valid/minimal.hcl")
	if len(c.Stores) != 1 || c.Stores[0].Name != "sqlite" || c.Stores[0].Plugin != "sqlite" {
		t.Fatalf("got %+v, want the store sqlite", c.Stores)
	}
	if got := find(t, c, "hello").Store; got != "sqlite" {
		t.Errorf("got store %q, want sqlite", got)
	}
}

// TestLoad_directory: the files of a directory are one configuration, whatever their order.
func TestLoad_directory(t *testing.T) {
	c, _ := load("testdata/valid/directory")
	for _, name := range []string{"early", "same-file"} {
		j := find(t, c, name)
		if j.Schedule.Zone().String() != "Asia/Tokyo" || j.Jitter != time.Second {
			t.Errorf("%s: got zone %s, jitter %s; want those of the defaults block", name, j.Schedule.Zone(), j.Jitter)
		}
	}
	if len(c.Files) != 3 {
		t.Errorf("got files %q, want 3", c.Files)
	}
}

// TestLoad_shares_schedules: equal schedules are one in memory, but for those with H, which
// depend on the job's name.
func TestLoad_shares_schedules(t *testing.T) {
	const exec = "\n  exec { command = [\"true\"] }\n}\n"
	c := mustLoad(t, `job "a" {
  schedule = ["0 1 * * *", "0 2 * * *"]`+exec+`job "b" {
  schedule = ["0 1 * * *", "0 2 * * *"]`+exec+`job "c" {
  schedule = "H 3 * * *"`+exec+`job "d" {
  schedule = "H 3 * * *"`+exec)
	if find(t, c, "a").Schedule != find(t, c, "b").Schedule {
		t.Error("equal schedules are two")
	}
	if find(t, c, "c").Schedule == find(t, c, "d").Schedule {
		t.Error("two jobs share a schedule with H")
	}
}

// TestCheck_gate_store: what only a lease store can do is an error at the job's line; in the
// defaults block, which other jobs may need, it is a warning.
func TestCheck_gate_store(t *testing.T) {
	c := mustLoad(t, `defaults {
  lease = "1m"
}
job "a" {
  schedule  = "0 0 * * *"
  heartbeat = "7s"
  exec { command = ["true"] }
}
job "b" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}
`)
	ds := c.Check("sqlite", job.Store{})
	if len(ds) != 2 {
		t.Fatalf("got %v, want a warning and an error", ds)
	}
	if d := ds[0]; d.Severity != jobfile.Warning || d.Code != jobfile.RuleGate || d.Line != 2 || !strings.Contains(d.Summary, "lease") {
		t.Errorf("got %+v, want a warning at line 2", d)
	}
	if d := ds[1]; d.Severity != jobfile.Error || d.Code != jobfile.RuleGate || d.Line != 6 || d.Job != "a" {
		t.Errorf("got %+v, want an error at line 6", d)
	}
	if ds := c.Check("sqlite", job.Store{Leases: true}); len(ds) > 0 {
		t.Errorf("on a lease store: got %v", ds)
	}
	if ds := c.Check("other", job.Store{}); len(ds) > 0 {
		t.Errorf("another store: got %v", ds)
	}
}

// TestCheck_memory: the rule points at the attribute that the user wrote, or at the job and
// says that the numbers are defaults.
func TestCheck_memory(t *testing.T) {
	c := mustLoad(t, `job "written" {
  schedule = "0 0 * * *"
  max_late = "5m"
  exec { command = ["true"] }
}
job "default" {
  schedule = "0 0 * * *"
  exec { command = ["true"] }
}
`)
	ds := c.Check("sqlite", job.Store{Memory: job.Memory{Window: time.Minute}})
	if len(ds) != 2 {
		t.Fatalf("got %v, want two errors", ds)
	}
	if d := ds[0]; d.Code != jobfile.RuleMemory || d.Line != 3 || d.Column != 3 || !strings.Contains(d.Fix, "jitter is the built-in default") {
		t.Errorf("got %+v, want the place of max_late", d)
	}
	if d := ds[1]; d.Code != jobfile.RuleMemory || d.Line != 6 || !strings.Contains(d.Fix, "max_late is the built-in default") {
		t.Errorf("got %+v, want the job's header", d)
	}
}

// TestLoad_required_version: constraints are checked against this version.
func TestLoad_required_version(t *testing.T) {
	for constraint, want := range map[string]bool{
		"0.3.1": true, "= 0.3.1": true, "!= 0.3.1": false, ">= 0.3": true, "> 0.3.1": false, "< 0.4": true, "<= 0.3.1": true,
		"~> 0.3.0": true, "~> 0.2.0": false, "~> 0.2": true, "~> 1.0": false, ">= 0.1, < 0.3": false, ">= v0.3": true,
		"": false, ">": false, "=> 1": false, "latest": false,
	} {
		path := t.TempDir() + "/a.hcl"
		write(t, path, "anarchon {\n  required_version = \""+constraint+"\"\n}\n")
		_, ds := jobfile.Load(jobfile.Options{Path: path, Version: "v0.3.1"})
		if got := !ds.HasErrors(); got != want {
			t.Errorf("%q: got %t, want %t (%v)", constraint, got, want, ds)
		}
	}
	path := t.TempDir() + "/a.hcl"
	write(t, path, "anarchon {\n  required_version = \">= 9\"\n}\n")
	if _, ds := jobfile.Load(jobfile.Options{Path: path, Version: "dev"}); ds.HasErrors() {
		t.Errorf("a development build satisfies everything; got %v", ds)
	}
}

// TestCodes: codes are unique and each has a meaning.
func TestCodes(t *testing.T) {
	seen := map[jobfile.Code]bool{}
	for _, c := range jobfile.Codes() {
		if seen[c.Code] || c.Meaning == "" || !strings.HasPrefix(string(c.Code), "AN1") {
			t.Errorf("%+v stands twice or means nothing", c)
		}
		seen[c.Code] = true
	}
}
