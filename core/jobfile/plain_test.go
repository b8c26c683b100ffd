package jobfile

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// FuzzPlain: what plain lets pass, guard lets pass too, and both agree about defaults. It is
// white-box because a mistake here isn't seen from outside until a file kills the process.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		"", "a = 1\n", "job \"a\" {\n  schedule = \"0 0 * * *\" # {{{\n}\n", "defaults {\n}\n", "\ufeffdefaults {}\n", "x {\n  defaults {\n  }\n}\n",
		"a = {\n} + {\n} + {\n}\n", "a = (1\n+1\n+1)\n", "a = [\"x\", // [\n \"y\"]\n", "a = \"{\n", "a = 1e5\n", "a = [)[)[)\n", "a = \"$\" == \"{\"\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l := &loader{reader: reader{report: &report{}}}
		if !l.checkText(&source{text: text}) {
			return // refused before
		}
		safe, early := plain(text)
		if !safe {
			return
		}
		tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
		if r := guard(tokens); r != nil {
			t.Errorf("plain lets pass what guard refuses: %s", r.diag.Summary)
		}
		if _, diags := hclsyntax.ParseConfig(text, "", hcl.InitialPos); !diags.HasErrors() && early != hasDefaults(tokens) {
			t.Errorf("plain finds defaults: %t", early)
		}
	})
}

// TestPlain_is_conservative: in plain's eyes an expression that goes on over lines isn't plain.
func TestPlain_is_conservative(t *testing.T) {
	for _, text := range []string{
		"a = {\n} + {\n}\n", "a = \"${b}\"\n", "a = <<E\nE\n", "/* */\n", "a = 'x'\n", "a = \"x\n", "a = (]\n", "}\n", "a = 1e9\n",
	} {
		if safe, _ := plain([]byte(text)); safe {
			t.Errorf("%q is plain", text)
		}
	}
	for _, text := range []string{"", "a = 1\n", "job \"x\" { # }\n  a = [\"{\",\n 1]\n}\n"} {
		if safe, _ := plain([]byte(text)); !safe {
			t.Errorf("%q isn't plain", text)
		}
	}
}
