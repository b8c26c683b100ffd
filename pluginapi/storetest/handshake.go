package storetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/handshake"
)

func handshakeChecks() []Check {
	return []Check{
		{"H01", "Handshake/refuses_people", "Started by hand, the plugin says what it is and exits with 64.", binary, refusesPeople},
		{"H02", "Handshake/describe", "--describe prints, as JSON, what the plugin also says to the core.", binary, describesItself},
		{"H03", "Handshake/one_line_on_stdout", "Standard output is the handshake's line, of a version offered, and nothing else.", binary, oneLineOnStdout},
		{"H04", "Handshake/answers_at_once", "The plugin answers within 2 s, with no environment but the handshake's.", binary, answersAtOnce},
	}
}

func logChecks() []Check {
	return []Check{
		{"L01", "Logs/are_json", "Every line on standard error is a JSON object with @level, @message and @timestamp.", binary, logsAreJSON},
		{"L02", "Logs/level", "A plugin that is asked to log errors only does so.", binaryStore, logLevel},
	}
}

func refusesPeople(ctx context.Context, t *trial) {
	stdout, code := t.byHand(ctx)
	if code != 64 {
		t.errorf("exit code: got %d, want 64", code)
	}
	if strings.Contains(stdout, "|") {
		t.errorf("standard output: got %.100q, want no handshake", stdout)
	}
}

func describesItself(ctx context.Context, t *trial) {
	stdout, code := t.byHand(ctx, "--describe")
	if code != 0 {
		t.errorf("exit code: got %d, want 0", code)
	}
	var printed struct {
		Name      string
		Version   string
		Protocols []int
		Schema    pluginapi.Schema
	}
	if err := json.Unmarshal([]byte(stdout), &printed); err != nil {
		t.fatalf("--describe: %v in %.200q", err, stdout)
	}
	plugin, err := t.startPlugin(ctx, t.log, slog.LevelDebug)
	if err != nil {
		t.fatalf("start: %v", err)
	}
	t.closed(ctx, plugin.Close)
	said := plugin.Describe()
	if printed.Name != said.Name || printed.Version != said.Version {
		t.errorf("--describe: got %s %s, want %s %s as in Describe", printed.Name, printed.Version, said.Name, said.Version)
	}
	if !slices.Contains(printed.Protocols, handshake.Protocol) {
		t.errorf("--describe: got protocols %v, want %d among them", printed.Protocols, handshake.Protocol)
	}
	if got, want := asJSON(printed.Schema), asJSON(said.Schema); !reflect.DeepEqual(got, want) {
		t.errorf("--describe: got schema %v, want %v as in Describe", got, want)
	}
}

// asJSON returns the schema in a form in which empty and absent are the same.
func asJSON(schema pluginapi.Schema) (value any) {
	text, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		return err
	}
	return value
}

func oneLineOnStdout(ctx context.Context, t *trial) {
	p := t.startRaw(ctx)
	t.closed(ctx, func(context.Context) error { return p.stdin.Close() })
	noise, err := p.wait(10 * time.Second)
	if err != nil {
		t.fatalf("after the end of standard input: %v", err)
	}
	if noise != "" {
		t.errorf("standard output besides the handshake: got %.100q, want nothing", noise)
	}
	for _, record := range t.heard.records() {
		if source := record["source"]; source == "stdout" || source == "print" {
			t.errorf("standard output of another process: got %q, want nothing", record["text"])
			return
		}
	}
}

func answersAtOnce(ctx context.Context, t *trial) {
	best := time.Duration(1<<63 - 1) // of three, since a busy machine delays one now and then
	for range 3 {
		p := t.startRaw(ctx)
		best = min(best, p.took)
		t.closed(ctx, func(context.Context) error { return p.stdin.Close() })
		if _, err := p.wait(10 * time.Second); err != nil {
			t.errorf("after the end of standard input: %v", err)
		}
	}
	if best >= 2*time.Second {
		t.errorf("got the handshake after %s, want it within 2 s", best)
	}
	t.notef("handshake after %s", best.Round(time.Millisecond))
}

// logsAreJSON looks at what all processes so far have written: pluginclient marks the lines
// that it couldn't read.
func logsAreJSON(_ context.Context, t *trial) {
	for _, record := range t.heard.records() {
		if record["source"] == "stderr" {
			t.errorf("standard error: got %q, want a JSON object with @level, @message and @timestamp", record["text"])
			return
		}
	}
}

func logLevel(ctx context.Context, t *trial) {
	quiet := &transcript{}
	log := slog.New(slog.NewJSONHandler(quiet, &slog.HandlerOptions{Level: slog.LevelDebug}))
	plugin, err := t.startPlugin(ctx, log, slog.LevelError)
	if err != nil {
		t.fatalf("start: %v", err)
	}
	store, _, err := plugin.Configure(ctx, t.config())
	if err != nil {
		t.errorf("configure: %v", err)
	} else {
		t.claimOne(ctx, store, t.claim(t.job("")), pluginapi.Won, "first claim")
	}
	t.closed(ctx, plugin.Close)
	for _, record := range quiet.records() {
		if record["source"] == nil && record["level"] != slog.LevelError.String() {
			t.errorf("asked for errors only: got %v", record)
		}
	}
}

// records returns the log lines in the transcript.
func (tr *transcript) records() []map[string]any {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var records []map[string]any
	lines := bufio.NewScanner(bytes.NewReader(tr.text.Bytes()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record map[string]any
		if json.Unmarshal(lines.Bytes(), &record) == nil && record["msg"] != nil {
			records = append(records, record)
		}
	}
	return records
}
