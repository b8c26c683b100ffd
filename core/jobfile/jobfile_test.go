package jobfile_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/core/jobfile"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics in testdata")

// environment is what env() sees in tests.
func environment(name string) (string, bool) {
	v, ok := map[string]string{"HOME_ZONE": "Europe/Berlin", "PASSWORD": "hunter2"}[name]
	return v, ok
}

func load(path string) (*jobfile.Config, jobfile.Diagnostics) {
	return jobfile.Load(jobfile.Options{Path: path, Env: environment, Version: "v0.1.0"})
}

// leaseStore is a store that every rule but those about memory applies to.
func leaseStore() job.Store { return job.Store{Leases: true} }

// loadText writes one file and loads it.
func loadText(t *testing.T, text string) (*jobfile.Config, jobfile.Diagnostics) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(path)
}

// mustLoad loads what has to be right.
func mustLoad(t *testing.T, text string) *jobfile.Config {
	t.Helper()
	c, ds := loadText(t, text)
	if len(ds) > 0 {
		t.Fatalf("got diagnostics:\n%v", ds)
	}
	return c
}

// TestValid: every file and directory of testdata/valid loads without a word, and its jobs
// are safe on a lease store.
func TestValid(t *testing.T) {
	paths, err := filepath.Glob("testdata/valid/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, ds := load(path)
			for _, s := range c.Stores {
				ds = append(ds, c.Check(s.Name, leaseStore())...)
			}
			if len(ds) > 0 {
				t.Errorf("got diagnostics:\n%v", ds)
			}
			if len(c.Jobs) == 0 {
				t.Error("got no jobs")
			}
		})
	}
}

// TestInvalid: the diagnostics of every file and directory of testdata/invalid are those in
// the .txt file beside it, as people see them. -update rewrites it.
func TestInvalid(t *testing.T) {
	paths, err := filepath.Glob("testdata/invalid/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".txt") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, ds := load(path)
			for _, s := range c.Stores {
				ds = append(ds, c.Check(s.Name, leaseStore())...)
			}
			var got bytes.Buffer
			if err := ds.Render(&got, jobfile.Style{Unicode: true}); err != nil {
				t.Fatal(err)
			}
			if !ds.HasErrors() && !strings.Contains(path, "warning") {
				t.Error("got no errors")
			}
			compare(t, strings.TrimSuffix(path, ".hcl")+".txt", got.Bytes())
		})
	}
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
