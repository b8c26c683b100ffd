package jobfile_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/jobfile"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// schema has every type, format and nesting.
func schema() pluginapi.Schema {
	text := func(name string, format pluginapi.Format, value string) pluginapi.Attribute {
		a := pluginapi.Attribute{Name: name, Type: pluginapi.String, Format: format, Description: "What it is."}
		if value != "" {
			a.Default = json.RawMessage(value)
		}
		return a
	}
	return pluginapi.Schema{
		Attributes: []pluginapi.Attribute{
			{Name: "address", Type: pluginapi.String, Required: true, Description: "Where it is.", Example: `"localhost:6379"`},
			{Name: "strategy", OneOf: []string{"lease", "stream-id"}, Default: json.RawMessage(`"lease"`), Description: "How."},
			{Name: "password", Type: pluginapi.String, Sensitive: true, Description: "Who."},
			{Name: "pin", Type: pluginapi.String, Sensitive: true, Format: pluginapi.DurationText, Description: "A secret with a format."},
			{Name: "pool", Type: pluginapi.Number, Default: json.RawMessage(`4`), Description: "How many."},
			{Name: "tls", Type: pluginapi.Bool, Description: "Whether."},
			{Name: "hosts", Type: pluginapi.ListOfString, Description: "Which."},
			{Name: "tags", Type: pluginapi.MapOfString, Description: "Which."},
			text("ttl", pluginapi.DurationText, `"7d"`),
			text("memory", pluginapi.SizeText, ""),
			text("path", pluginapi.PathText, `"anarchon.db"`),
		},
		Blocks: []pluginapi.Block{
			{Name: "limits", Description: "One.", Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{text("wait", pluginapi.DurationText, `"5s"`)}}},
			{Name: "sentinel", Nesting: pluginapi.NestList, Description: "Many.", Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{text("host", pluginapi.AnyText, "")}}},
			{Name: "user", Nesting: pluginapi.NestMap, Description: "By name.", Schema: pluginapi.Schema{Attributes: []pluginapi.Attribute{text("role", pluginapi.AnyText, "")}}},
		},
	}
}

// decode loads one store block and decodes it.
func decode(t *testing.T, block string) (*jobfile.Settings, jobfile.Diagnostics) {
	t.Helper()
	c, ds := loadText(t, block)
	if ds.HasErrors() || len(c.Stores) != 1 {
		t.Fatalf("got %d stores, %v", len(c.Stores), ds)
	}
	if err := schema().Check(); err != nil {
		t.Fatal(err)
	}
	return c.Stores[0].Decode(schema(), "/data")
}

// TestDecode: the plugin gets canonical JSON: durations in Go's form, sizes in bytes, paths
// absolute, defaults filled in, keys in order.
func TestDecode(t *testing.T) {
	for name, test := range map[string]struct{ block, want string }{
		"only what is required": {
			"address = \"a\"",
			`{"address":"a","path":"/data/anarchon.db","pool":4,"strategy":"lease","ttl":"168h0m0s"}`,
		},
		"everything": {
			`
  tags     = { b = "2", "a" = "1" }
  address  = "${env("PASSWORD")}:1"
  strategy = "stream-id"
  password = env("PASSWORD")
  pool     = 1.5
  tls      = true
  hosts    = ["b", "a"]
  ttl      = "1m30s"
  memory   = "64KiB"
  path     = "/var/../db"
  limits {
  }
  sentinel {
    host = "one"
  }
  sentinel {
    host = "two"
  }
  user "eve" {
  }
  user "adam" {
    role = "<admin>"
  }`,
			`{"address":"hunter2:1","hosts":["b","a"],"limits":{"wait":"5s"},"memory":"65536","password":"hunter2","path":"/db","pool":1.5,` +
				`"sentinel":[{"host":"one"},{"host":"two"}],"strategy":"stream-id","tags":{"a":"1","b":"2"},"tls":true,"ttl":"1m30s",` +
				`"user":{"adam":{"role":"\u003cadmin\u003e"},"eve":{}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, ds := decode(t, "store \"redis\" {\n"+test.block+"\n}\n")
			if len(ds) > 0 {
				t.Fatalf("got %v", ds)
			}
			if string(got.JSON) != test.want {
				t.Errorf("got  %s\nwant %s", got.JSON, test.want)
			}
		})
	}
}

// TestDecode_default_store: without a block the plugin gets its defaults.
func TestDecode_default_store(t *testing.T) {
	c, _ := load("testdata/valid/minimal.hcl")
	s := pluginapi.Schema{Attributes: []pluginapi.Attribute{{
		Name: "path", Format: pluginapi.PathText, Default: json.RawMessage(`"anarchon.db"`), Description: "Where.",
	}}}
	got, ds := c.Stores[0].Decode(s, "/data")
	if len(ds) > 0 || string(got.JSON) != `{"path":"/data/anarchon.db"}` {
		t.Errorf("got %s, %v", got.JSON, ds)
	}
	// A plugin that needs more says so, though there is no line to point at.
	s.Attributes[0].Required = true
	if _, ds := c.Stores[0].Decode(s, "/data"); len(ds) != 1 || ds[0].Code != jobfile.Missing || ds[0].Line != 0 {
		t.Errorf("got %v, want that path is missing", ds)
	}
}

// TestDecode_problems: each mistake is reported at its place, all in one pass.
func TestDecode_problems(t *testing.T) {
	_, ds := decode(t, `store "redis" {
  addresss = "a"
  strategy = "lese"
  pool     = "4"
  tls      = 1
  hosts    = ["a", 1]
  tags     = { a = 1 }
  ttl      = "5"
  memory   = "64kB"
  path     = ""
  limits {
    wait = "soon"
    what = 1
  }
  limits {
  }
  user {
  }
  sentinel "x" {
  }
  limit {
  }
}
`)
	var got bytes.Buffer
	if err := ds.Render(&got, jobfile.Style{}); err != nil {
		t.Fatal(err)
	}
	dir, _, _ := strings.Cut(ds[0].File, "jobs.hcl")
	compare(t, "testdata/store.txt", bytes.ReplaceAll(got.Bytes(), []byte(dir), nil))
}

// TestDecode_keeps_secrets: nothing of a sensitive value is shown, whatever is wrong with it.
func TestDecode_keeps_secrets(t *testing.T) {
	for _, value := range []string{
		"hunter2", `["hunter2"]`, `"${hunter2}"`, `hunter2("a")`, `hunter2.x`, `true ? "hunter2" : ""`, `{ a = "hunter2" }`, `upper("hunter2")`,
	} {
		for _, name := range []string{"password", "pin"} {
			_, ds := decode(t, "store \"redis\" {\n  address = \"a\"\n  "+name+" = "+value+"\n}\n")
			var out bytes.Buffer
			if err := ds.Render(&out, jobfile.Style{}); err != nil {
				t.Fatal(err)
			}
			if len(ds) != 1 || ds[0].Line != 3 || strings.Contains(out.String()+ds.String(), "hunter2") {
				t.Errorf("%s = %s: got %v", name, value, ds)
			}
		}
	}
	_, ds := decode(t, "store \"redis\" {\n  address = \"a\"\n  pin = \"hunter2\"\n}\n")
	if len(ds) != 1 || strings.Contains(ds.String(), "hunter2") {
		t.Errorf("a wrong format: got %v", ds)
	}
}

// TestLocate: what the plugin says is shown at the user's line, as deep as its path leads.
func TestLocate(t *testing.T) {
	s, ds := decode(t, `store "redis" {
  address  = "a"
  password = "hunter2"
  hosts    = ["b", "a"]
  tags = {
    x = "1"
  }
  limits {
    wait = "1s"
  }
  sentinel {
  }
  sentinel {
    host = "two"
  }
  user "eve" {
    role = "x"
  }
}
`)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	name := func(n string) pluginapi.Step { return pluginapi.Step{Name: n} }
	index := func(i int) pluginapi.Step { return pluginapi.Step{Index: i} }
	for _, test := range []struct {
		path         []pluginapi.Step
		line, column int
	}{
		{nil, 1, 1},
		{pluginapi.Attr("address"), 2, 14},
		{pluginapi.Attr("password"), 3, 14},
		{[]pluginapi.Step{name("hosts"), index(1)}, 4, 20},
		{[]pluginapi.Step{name("hosts"), index(7)}, 4, 14},
		{pluginapi.Attr("tags", "x"), 6, 9},
		{pluginapi.Attr("tags", "y"), 5, 10},
		{pluginapi.Attr("limits"), 8, 3},
		{pluginapi.Attr("limits", "wait"), 9, 12},
		{[]pluginapi.Step{name("sentinel"), index(1), name("host")}, 14, 12},
		{[]pluginapi.Step{name("sentinel"), index(0), name("host")}, 11, 3},
		{[]pluginapi.Step{name("sentinel"), index(9)}, 1, 1},
		{pluginapi.Attr("user", "eve", "role"), 17, 12},
		{pluginapi.Attr("pool"), 1, 1},
		{pluginapi.Attr("nonsense", "x"), 1, 1},
	} {
		got := s.Locate([]pluginapi.Diagnostic{{Code: "redis.bad", Summary: "bad", Detail: "because", Path: test.path}})
		if len(got) != 1 || got[0].Line != test.line || got[0].Column != test.column {
			t.Errorf("%v: got %v, want %d:%d", test.path, got, test.line, test.column)
			continue
		}
		if d := got[0]; d.Code != "redis.bad" || d.Store != "redis" || d.Fix != "because" || d.Severity != jobfile.Error {
			t.Errorf("got %+v", d)
		}
		var out bytes.Buffer
		if err := got.Render(&out, jobfile.Style{}); err != nil || strings.Contains(out.String(), "hunter2") {
			t.Errorf("the secret is shown: %s, %v", out.String(), err)
		}
	}
	warning := s.Locate([]pluginapi.Diagnostic{{Severity: pluginapi.SeverityWarning, Summary: "careful"}})
	if warning.HasErrors() || warning[0].Code != jobfile.BadSetting {
		t.Errorf("got %v, want a warning", warning)
	}
}

// TestRender: colours only where they are asked for, tabs keep the carets in line, and
// String starts with the place.
func TestRender(t *testing.T) {
	_, ds := loadText(t, "job \"größe\" {\n\tschedule = \"0 75 2 * * *\" # größe\n\texec { command = [\"true\"] }\n}\n")
	if len(ds) != 2 {
		t.Fatalf("got %v", ds)
	}
	var plain, colour bytes.Buffer
	if err := ds[1:].Render(&plain, jobfile.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := ds[1:].Render(&colour, jobfile.Style{Colour: true, Unicode: true}); err != nil {
		t.Fatal(err)
	}
	if want := "    2 | \tschedule = \"0 75 2 * * *\" # größe\n      | \t              ^^\n"; !strings.Contains(plain.String(), want) {
		t.Errorf("got %s\nwant %s", plain.String(), want)
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(colour.String(), "\x1b[1;31merror AN121\x1b[0m") {
		t.Errorf("got %q and %q", plain.String(), colour.String())
	}
	if got := ds[0].String(); !strings.HasPrefix(got, ds[0].File+":1:5: error AN115: ") {
		t.Errorf("got %s", got)
	}
}
