package jobfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anarchon-scheduler/anarchon/core/jobfile"
)

// TestLoad_hostile: what overflows the parser's stack, which no program survives, or computes
// for minutes, is refused before it is parsed.
func TestLoad_hostile(t *testing.T) {
	const size = 128 << 10 // a thousand times what is allowed, and quick to scan
	nest := func(open, middle, closing string) string {
		n := size / (len(open) + len(closing))
		return "a = " + strings.Repeat(open, n) + middle + strings.Repeat(closing, n) + "\n"
	}
	chain := func(start, link string) string {
		return "a = " + start + strings.Repeat(link, size/len(link)) + "\n"
	}
	for name, test := range map[string]struct {
		text string
		want jobfile.Code
	}{
		"round brackets":       {nest("(", "1", ")"), jobfile.TooDeep},
		"square brackets":      {nest("[", "", "]"), jobfile.TooDeep},
		"maps":                 {nest("{a=", "1", "}"), jobfile.TooDeep},
		"blocks":               {strings.Repeat("a {\n", 30_000), jobfile.TooDeep},
		"blocks on a line":     {strings.Repeat("a {", 40_000), jobfile.TooDeep},
		"templates":            {nest(`"${`, "1", `}"`), jobfile.TooDeep},
		"templates, unclosed":  {chain("", `"${`), jobfile.TooDeep},
		"calls":                {nest("f(", "1", ")"), jobfile.TooDeep},
		"wrong closers":        {chain("", "[)"), jobfile.TooDeep},
		"for":                  {nest("[for a in ", "[]", ": a]"), jobfile.TooDeep},
		"minus signs":          {chain("", "-") + "1", jobfile.TooDeep},
		"exclamation marks":    {chain("", "!") + "true", jobfile.TooDeep},
		"sums":                 {chain("1", "+1"), jobfile.TooDeep},
		"sums in brackets":     {"a = (1" + strings.Repeat("\n+1", 40_000) + ")\n", jobfile.TooDeep},
		"comparisons":          {chain("1", "==1"), jobfile.TooDeep},
		"conditions":           {chain("true", " ? true : true"), jobfile.TooDeep},
		"indexes":              {chain("a", "[0]"), jobfile.TooDeep},
		"attributes":           {chain("a", ".a"), jobfile.TooDeep},
		"splats":               {chain("a", ".*"), jobfile.TooDeep},
		"full splats":          {chain("a", "[*]"), jobfile.TooDeep},
		"template directives":  {`a = "` + strings.Repeat("%{if true}", 10_000) + `"`, jobfile.TooDeep},
		"directives in a text": {"a = <<E\n" + strings.Repeat("%{for a in b}", 10_000) + "\nE\n", jobfile.TooDeep},
		"a text of many lines": {"a = <<E\n" + strings.Repeat("a\n", size/2) + "E\n", jobfile.TooDeep},
		"a text of many parts": {`a = "` + strings.Repeat("$a", size/2) + "\"\n", jobfile.TooDeep},
		"a long number":        {chain("1", "1"), jobfile.BadNumber},
		"a huge exponent":      {"a = 1e10000000\n", jobfile.BadNumber},
		"a tiny exponent":      {"a = 1e-10000000\n", jobfile.BadNumber},
		"an exponent in text":  {`a = "x${1E10000000}"` + "\n", jobfile.BadNumber},
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := loadText(t, test.text)
			wantOnly(t, ds, test.want)
		})
	}
}

// TestLoad_large_but_flat: size alone is no reason to refuse.
func TestLoad_large_but_flat(t *testing.T) {
	for name, expression := range map[string]string{
		"a list":     "[" + strings.Repeat(`"a", `, 20_000) + "]",
		"a text":     `"` + strings.Repeat("a", 500_000) + `"`,
		"a template": `"` + strings.Repeat(`${env("PASSWORD")}`, 5_000) + `"`,
		"lists":      "[" + strings.Repeat("[1], ", 20_000) + "]",
		"heredoc":    "<<E\n" + strings.Repeat("line\n", 2_000) + "E",
	} {
		t.Run(name, func(t *testing.T) {
			_, ds := loadText(t, "job \"a\" {\n  schedule = \"0 0 * * *\"\n  description = "+expression+
				"\n  exec {\n    command = [\"true\"]\n  }\n}\n")
			for _, d := range ds {
				if d.Code != jobfile.BadType {
					t.Errorf("got %.300s", d)
				}
			}
		})
	}
}

// TestRender_long_line: only the part of a line around the place is shown.
func TestRender_long_line(t *testing.T) {
	_, ds := loadText(t, `a = "`+strings.Repeat("x", 100_000)+`" b`)
	var out bytes.Buffer
	if err := ds.Render(&out, jobfile.Style{}); err != nil || out.Len() > 2000 || out.Len() == 0 {
		t.Errorf("got %d bytes, %v", out.Len(), err)
	}
}

// FuzzLoad: whatever a file holds, Load ends, and what has no errors can be checked and
// hashed. Places lie in the file.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/valid/*.hcl", "testdata/invalid/*.hcl", "testdata/*/*/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte(`a = "${"${"${1}"}"}"`))
	f.Add([]byte("a = <<E\n%{if true}\n${1}\nE"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, ds := loadText(t, string(text))
		lines := bytes.Count(text, []byte("\n")) + 1
		for _, d := range ds {
			if d.Line > lines || d.Column < 0 || d.EndColumn < d.Column || d.Summary == "" || d.Code == "" {
				t.Errorf("%+v doesn't lie in the file", d)
			}
		}
		if err := ds.Render(&bytes.Buffer{}, jobfile.Style{Colour: true, Unicode: true}); err != nil {
			t.Error(err)
		}
		if ds.HasErrors() {
			return
		}
		for _, s := range c.Stores {
			checked := c.Check(s.Name, leaseStore())
			if err := checked.Render(&bytes.Buffer{}, jobfile.Style{}); err != nil {
				t.Error(err)
			}
		}
		for _, j := range c.Jobs {
			j.Hash()
		}
	})
}
