package pluginclient_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anarchon-scheduler/anarchon/pluginapi/pluginclient"
)

// modeEnv makes this test binary behave as one of the programs below.
const modeEnv = "PLUGINCLIENT_TEST_MODE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeEnv); mode != "" {
		os.Exit(programs[mode]())
	}
	goleak.VerifyTestMain(m)
}

// self returns options that start this binary as the named program.
func self(t *testing.T, mode string) pluginclient.Options {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return pluginclient.Options{
		Path: path,
		// Under the race detector a process would otherwise take a second to exit.
		Env:        []string{modeEnv + "=" + mode, "GORACE=atexit_sleep_ms=0"},
		RuntimeDir: runtimeDir(t),
	}
}

// runtimeDir is shorter than t.TempDir, whose paths are too long for a socket, and must be
// empty at the end.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt") //nolint:usetesting // t.TempDir would be too long, see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("something was left in the runtime directory: %v", err)
		}
	})
	return dir
}

// open opens a plugin that is closed at the end of the test.
func open(t *testing.T, options pluginclient.Options) *pluginclient.Plugin {
	t.Helper()
	plugin, err := pluginclient.Open(t.Context(), options)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		closePlugin(t, plugin, 10*time.Second)
	})
	return plugin
}

// closePlugin closes the plugin within a bound.
func closePlugin(t *testing.T, plugin *pluginclient.Plugin, bound time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if err := plugin.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// recorder is a log handler that keeps what it gets.
type recorder struct {
	told chan string // gets the message of each, if there is one and it has room

	mu      sync.Mutex
	records []slog.Record
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }
func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, record)
	select {
	case r.told <- record.Message:
	default:
	}
	return nil
}

// await waits for a record with the message.
func (r *recorder) await(t *testing.T, msg string) {
	t.Helper()
	for timeout := time.After(10 * time.Second); ; {
		select {
		case got := <-r.told:
			if got == msg {
				return
			}
		case <-timeout:
			t.Fatalf("no record %q within 10 s", msg)
		}
	}
}

func (r *recorder) logger() *slog.Logger { return slog.New(r) }

func (r *recorder) all() []slog.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// attr returns an attribute of a record; nothing if it has none of that name.
func attr(record slog.Record, key string) (value slog.Value) {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == key {
			value = a.Value
		}
		return a.Key != key
	})
	return value
}

// texts returns the text of every line that was no log line.
func (r *recorder) texts() (out []string) {
	for _, record := range r.all() {
		if text := attr(record, "text"); text.Kind() == slog.KindString {
			out = append(out, text.String())
		}
	}
	return out
}
