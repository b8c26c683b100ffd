//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bin returns the path of a built binary: bin/<name> of the repository.
func bin(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; `make e2e` builds it", err)
	}
	return path
}

// cluster is a configuration, a shared store and the instances started on them.
type cluster struct {
	t       testing.TB
	dir     string
	core    string // the binary
	config  string // the directory with the job files
	witness witness
}

// newCluster is newClusterOn for an SQLite database that all instances share.
func newCluster(t testing.TB, jobs string) *cluster {
	t.Helper()
	dir := t.TempDir()
	return newClusterIn(t, dir, fmt.Sprintf("store \"sqlite\" {\n  path = %q\n}\n", database(dir)), jobs)
}

// newClusterOn writes a store block and jobs, HCL in which WITNESS stands for the witness file's
// path.
func newClusterOn(t testing.TB, store, jobs string) *cluster {
	t.Helper()
	return newClusterIn(t, t.TempDir(), store, jobs)
}

func newClusterIn(t testing.TB, dir, store, jobs string) *cluster {
	t.Helper()
	c := &cluster{
		t: t, dir: dir, core: bin(t, "anarchon"),
		config:  filepath.Join(dir, "config"),
		witness: witness{t: t, path: filepath.Join(dir, "witness")},
	}
	if err := os.Mkdir(c.config, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("store.hcl", store)
	c.write("jobs.hcl", strings.ReplaceAll(jobs, "WITNESS", c.witness.path))
	c.append(c.witness.path, "")
	return c
}

func (c *cluster) database() string { return database(c.dir) }

func database(dir string) string { return filepath.Join(dir, "anarchon.db") }

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.config, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) append(path, text string) {
	c.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// instance is one running `anarchon agent`.
type instance struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	log  string // the file with its standard error
	done chan struct{}
	err  error // how it ended; valid once done is closed
}

// start starts one instance and returns at once. It is killed at the end of the test.
func (c *cluster) start(name string, env ...string) *instance {
	c.t.Helper()
	data := filepath.Join(c.dir, "data-"+name)
	i := &instance{t: c.t, name: name, log: filepath.Join(c.dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(i.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	i.cmd = exec.Command(c.core, "agent", "--config", c.config, "--name", name, "--data-dir", data, "--log-level", "debug", "--log-format", "json")
	i.cmd.Env = append(os.Environ(), env...)
	i.cmd.Stdout, i.cmd.Stderr = log, log
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := i.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	log.Close()
	go func() {
		i.err = i.cmd.Wait()
		close(i.done)
	}()
	c.t.Cleanup(func() {
		_ = i.cmd.Process.Signal(syscall.SIGCONT)
		i.kill()
		if c.t.Failed() {
			c.t.Logf("%s, the last of its log:\n%s", name, tail(i.log, 4000))
		}
	})
	return i
}

// startAll starts n instances, i1 to in, and waits until each says that it is ready.
func (c *cluster) startAll(n int) []*instance {
	c.t.Helper()
	all := make([]*instance, n)
	for k := range all {
		all[k] = c.start(fmt.Sprintf("i%d", k+1))
	}
	for _, i := range all {
		i.waitLog(`"msg":"ready"`, 30*time.Second)
	}
	return all
}

func (i *instance) pid() int { return i.cmd.Process.Pid }

func (i *instance) signal(s syscall.Signal) {
	i.t.Helper()
	if err := i.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		i.t.Fatalf("signal %s to %s: %v", s, i.name, err)
	}
}

// kill is kill -9, and waits for the process to be gone.
func (i *instance) kill() {
	_ = i.cmd.Process.Kill()
	<-i.done
}

// stop drains the instance with SIGTERM and returns its exit code.
func (i *instance) stop(within time.Duration) int {
	i.t.Helper()
	i.signal(syscall.SIGTERM)
	select {
	case <-i.done:
		return i.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		i.t.Fatalf("%s didn't stop within %s of SIGTERM", i.name, within)
		return -1
	}
}

// waitLog waits until the instance's log holds text.
func (i *instance) waitLog(text string, within time.Duration) {
	i.t.Helper()
	until(i.t, within, func() error {
		data, err := os.ReadFile(i.log)
		if err != nil {
			return err
		}
		if !bytes.Contains(data, []byte(text)) {
			return fmt.Errorf("the log of %s has no %s:\n%s", i.name, text, tail(i.log, 2000))
		}
		return nil
	})
}

// until asks again and again until check returns nil, and fails after within.
func until(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %v", within, err)
		}
		<-tick.C
	}
}

func tail(path string, n int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-n):])
}

// result is what one command printed and how it ended.
type result struct {
	out, err string
	code     int
}

// command runs one command of the core and waits for it.
func command(t testing.TB, args ...string) result {
	t.Helper()
	cmd := exec.Command(bin(t, "anarchon"), args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return result{out: out.String(), err: errOut.String(), code: cmd.ProcessState.ExitCode()}
}

// run is a run as `anarchon runs --json` shows it.
type run struct {
	Run      string    `json:"run"`
	Job      string    `json:"job"`
	SlotMS   int64     `json:"slot_ms"`
	Outcome  string    `json:"outcome"`
	Attempts []attempt `json:"attempts"`
}

type attempt struct {
	Number   int    `json:"number"`
	Instance string `json:"instance"`
	Released bool   `json:"released"`
}

// runs reads the history with the CLI, which needs no running instance.
func (c *cluster) runs(args ...string) []run {
	c.t.Helper()
	r := command(c.t, append([]string{"runs", "--config", c.config, "--json", "--limit", "100000"}, args...)...)
	if r.code != 0 {
		c.t.Fatalf("anarchon runs: exit %d: %s", r.code, r.err)
	}
	var doc struct {
		Runs []run `json:"runs"`
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		c.t.Fatalf("anarchon runs --json: %v\n%s", err, r.out)
	}
	return doc.Runs
}
