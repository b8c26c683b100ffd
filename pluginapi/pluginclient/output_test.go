package pluginclient_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// TestForgedLogLines has lines that are no log lines, one of which panics a host that lets
// go-plugin parse them, and one that pretends to be more than it is (plan B46).
func TestForgedLogLines(t *testing.T) {
	var log recorder
	options := self(t, "odd log")
	options.Log = log.logger()
	closePlugin(t, open(t, options), 10*time.Second)
	want := []string{`{"@level":3,"@message":"x"}`, `{"@level":"info"}`, `[1,2]`, `{`}
	texts := log.texts()
	for i, line := range want {
		if i >= len(texts) || texts[i] != line {
			t.Fatalf("texts %q; want %q", texts, want)
		}
	}
	record := log.all()[len(want)]
	if record.Message != "real \uFFFD[2J" || record.Level != slog.LevelError {
		t.Errorf("%s %q; want the control character replaced", record.Level, record.Message)
	}
	if job := attr(record, "job"); job.Kind() == slog.KindString {
		t.Errorf("the plugin's job %q stands beside our own attributes", job)
	}
	if got := attr(record, "fields").String(); got != "[job=forged n=1]" {
		t.Errorf("fields %s", got)
	}
}

// TestLogFloodIsCut: every line is either told or counted, and most are counted (plan B46).
func TestLogFloodIsCut(t *testing.T) {
	var log recorder
	options := self(t, "flood")
	options.Log = log.logger()
	got := refused(t, options)
	if got.LastLine != "line 19999" {
		t.Errorf("last line %q; also a line that isn't logged is kept", got.LastLine)
	}
	told, dropped := 0, 0
	for _, record := range log.all() {
		if lines := attr(record, "lines"); lines.Kind() == slog.KindInt64 {
			dropped += int(lines.Int64())
		} else {
			told++
		}
	}
	if told+dropped != floodLines || dropped == 0 || told < 200 {
		t.Errorf("%d lines told and %d dropped of %d", told, dropped, floodLines)
	}
}

func TestLogLevel(t *testing.T) {
	log := &recorder{told: make(chan string, 100)}
	options := self(t, "odd")
	options.Log, options.LogLevel = log.logger(), slog.LevelError
	plugin := open(t, options)
	store := configure(t, plugin, pluginapi.Config{})
	say := func(job string) {
		if _, err := store.Claim(t.Context(), []pluginapi.Claim{claimOf(job)}); err != nil {
			t.Fatal(err)
		}
	}
	say("info")
	if err := plugin.SetLogLevel(t.Context(), slog.LevelInfo); err != nil {
		t.Fatal(err)
	}
	say("info")
	closePlugin(t, plugin, 10*time.Second)
	lines := 0
	for _, record := range log.all() {
		if record.Message == "for your information" {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("%d lines; want the one after the level was set", lines)
	}
}

func TestPrintsOfAStoreAreLogged(t *testing.T) {
	log := &recorder{told: make(chan string, 100)}
	options := self(t, "odd")
	options.Log = log.logger()
	store := configure(t, open(t, options), pluginapi.Config{})
	if _, err := store.Claim(t.Context(), []pluginapi.Claim{claimOf("print")}); err != nil {
		t.Fatal(err)
	}
	log.await(t, "plugin wrote text")
	if got := log.texts(); !strings.Contains(got[0], "printed by the store") {
		t.Errorf("texts %q", got)
	}
}
