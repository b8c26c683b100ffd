package jobfile

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// decodeProject reads the anarchon block.
func (l *loader) decodeProject(top *fields, b *hclsyntax.Block) {
	f := l.open(top.src, top.src.at(b.DefRange()), b.Body, shape{
		what:       "the anarchon block",
		attributes: []string{"required_version"},
		later:      []string{"include", "required_plugins"},
	}, owner{})
	f.noLabel(b)
	l.onlyOne(f, b.Type, &l.project)
	text := f.text("required_version", `">= 0.1"`)
	if text == nil {
		return
	}
	ok, err := satisfies(l.options.Version, *text)
	switch {
	case err != nil:
		f.refuse(f.at("required_version"), Diagnostic{
			Code: BadVersion, Summary: fmt.Sprintf("%s isn't a version constraint", shorten(*text)), Fix: sentence(err.Error()),
		})
	case !ok:
		f.refuse(f.at("required_version"), Diagnostic{
			Code:    BadVersion,
			Summary: fmt.Sprintf("this is anarchon %s, and the configuration needs %s", l.options.Version, *text),
			Fix:     "Run a version that fits, or change required_version.",
		})
	}
}

// decodeAgent reads the agent block.
func (l *loader) decodeAgent(top *fields, b *hclsyntax.Block) {
	f := l.open(top.src, top.src.at(b.DefRange()), b.Body, shape{
		what:       "the agent block",
		attributes: []string{"name", "data_dir", "max_running", "drain_timeout"},
		later:      []string{"labels", "http"},
	}, owner{})
	f.noLabel(b)
	if !l.onlyOne(f, b.Type, &l.agent) {
		return
	}
	a := &l.config.Agent
	if name := f.text("name", `"node-1"`); name != nil {
		a.Name = *name
		if !validInstance(a.Name) {
			f.refuse(f.at("name"), Diagnostic{
				Code:    BadValue,
				Summary: fmt.Sprintf("%s can't be the name of an instance", shorten(a.Name)),
				Fix:     "A name has 1 to 128 printable ASCII characters and no blanks.",
			})
		}
	}
	if dir := f.text("data_dir", `"/var/lib/anarchon"`); dir != nil {
		a.DataDir = *dir
		if a.DataDir == "" || strings.ContainsRune(a.DataDir, 0) {
			f.refuse(f.at("data_dir"), Diagnostic{Code: BadValue, Summary: "data_dir must be a path", Fix: "Remove the line to use the default."})
		}
	}
	a.MaxRunning = pick(f.whole("max_running", 1, 100_000), nil, a.MaxRunning)
	a.DrainTimeout = pick(f.duration("drain_timeout", 0, 24*time.Hour), nil, a.DrainTimeout)
}

// onlyOne keeps where the block was first written, and tells whether it is the first.
func (l *loader) onlyOne(f *fields, block string, first *place) bool {
	if first.src == nil {
		*first = f.header
		return true
	}
	f.refuse(f.header, Diagnostic{
		Code:    Duplicate,
		Summary: fmt.Sprintf("a configuration has one block %q, and it already stands at %s", block, *first),
		Fix:     "Merge the two, or remove one.",
	})
	return false
}

// noLabel reports labels of a block that has none.
func (f *fields) noLabel(b *hclsyntax.Block) {
	if len(b.Labels) > 0 {
		f.refuse(f.src.at(b.LabelRanges[0]), Diagnostic{
			Code: BadLabel, Summary: fmt.Sprintf("a block %q has no label", b.Type), Fix: fmt.Sprintf("Write %s { … }.", b.Type),
		})
	}
}

func validInstance(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 128
}

// pick returns the first value that is there.
func pick[T any](first, second *T, otherwise T) T {
	switch {
	case first != nil:
		return *first
	case second != nil:
		return *second
	}
	return otherwise
}
