package jobfile

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/anarchon-scheduler/anarchon/core/job"
)

// shape says what may stand in a block.
type shape struct {
	what       string   // the block, for messages: "a job"
	attributes []string // what is set with =
	blocks     []string // what has braces
	repeated   []string // those of the blocks that may stand more than once, or have a label
	later      []string // attributes and blocks of later versions
}

// owner is the job or store that a diagnostic belongs to.
type owner struct{ job, store string }

// mark remembers where the user wrote a setting.
type mark struct {
	name       string
	start, end uint32
}

// reader is what reading a block needs.
type reader struct {
	report *report
	eval   *evaluator
	texts  map[string]string // one copy of equal texts
}

// intern returns one copy of equal texts: jobs by the hundred thousand mostly repeat them.
func (r *reader) intern(text string) string {
	if kept, ok := r.texts[text]; ok {
		return kept
	}
	r.texts[text] = text
	return text
}

// fields are the attributes of one block, read one by one. A method returns nil when the
// attribute isn't written, and also when it is wrong; then it has been reported.
type fields struct {
	r      *reader
	src    *source
	owner  owner
	header place // the block's type and labels
	body   *hclsyntax.Body
	marks  []mark
	bad    bool   // something has been reported
	secret string // the sensitive attribute that is being read, or ""
}

// open reports what may not stand in the block and returns its attributes.
func (r *reader) open(src *source, header place, body *hclsyntax.Body, s shape, o owner) *fields {
	f := &fields{r: r, src: src, owner: o, header: header, body: body}
	for name, a := range body.Attributes {
		if slices.Contains(s.attributes, name) {
			continue
		}
		if f.bad = true; !r.report.full() {
			f.refuse(src.at(a.NameRange), s.unknown("attribute", name))
		}
	}
	seen := map[string]place{}
	for _, b := range body.Blocks {
		at := src.at(b.TypeRange)
		if !slices.Contains(s.blocks, b.Type) {
			if f.bad = true; !r.report.full() {
				f.refuse(at, s.unknown("block", b.Type))
			}
			continue
		}
		if slices.Contains(s.repeated, b.Type) {
			continue
		}
		if first, twice := seen[b.Type]; twice {
			f.refuse(at, Diagnostic{
				Code:    Duplicate,
				Summary: fmt.Sprintf("%s has one block %q, and it already stands at %s", s.what, b.Type, first),
				Fix:     "Merge the two, or remove one.",
			})
			continue
		}
		seen[b.Type] = at
		if len(b.Labels) > 0 {
			f.refuse(src.at(b.LabelRanges[0]), Diagnostic{
				Code:    BadLabel,
				Summary: fmt.Sprintf("a block %q has no label", b.Type),
				Fix:     fmt.Sprintf("Write %s { … }.", b.Type),
			})
		}
	}
	return f
}

// unknown explains an attribute or block of that name, which doesn't belong there.
func (s shape) unknown(kind, name string) Diagnostic {
	if slices.Contains(s.later, name) {
		return Diagnostic{
			Code:    NotYet,
			Summary: fmt.Sprintf("%q in %s isn't supported by this version", name, s.what),
			Fix:     "Remove it, or use a later version.",
		}
	}
	d := Diagnostic{Code: Unknown, Summary: fmt.Sprintf("%s has no %s %s", s.what, kind, shorten(name))}
	switch {
	case kind == "block" && slices.Contains(s.attributes, name):
		d.Fix = fmt.Sprintf("%q is an attribute: write %s = ….", name, name)
	case kind == "attribute" && slices.Contains(s.blocks, name):
		d.Fix = fmt.Sprintf("%q is a block: write %s { … }, without =.", name, name)
	default:
		d.Fix = suggest(name, slices.Concat(s.attributes, s.blocks))
	}
	return d
}

// block returns the block of that type, or nil; there is at most one, as open has checked.
func (f *fields) block(name string) *hclsyntax.Block {
	for _, b := range f.body.Blocks {
		if b.Type == name {
			return b
		}
	}
	return nil
}

// within returns the fields of the block of that type, or nil when there is none.
func (f *fields) within(name string, s shape) *fields {
	b := f.block(name)
	if b == nil {
		return nil
	}
	return f.r.open(f.src, f.src.at(b.DefRange()), b.Body, s, f.owner)
}

// refuse reports an error in this block.
func (f *fields) refuse(at place, d Diagnostic) {
	f.bad = true
	d.Job, d.Store = f.owner.job, f.owner.store
	if f.secret != "" {
		d = withoutValue(d, f.secret)
	}
	f.r.report.add(at, d)
}

// withoutValue returns d so that it shows nothing of what a sensitive attribute holds.
func withoutValue(d Diagnostic, name string) Diagnostic {
	d.snippet.hidden = true
	if d.Code != BadType && d.Code != BadEnv {
		d.Summary = name + " has a value that can't be used"
		d.Fix = `It is secret, so it isn't shown. Write a text in quotes, or env("NAME").`
	}
	return d
}

// require reports that an attribute or block is missing, unless a syntax error may have
// swallowed it.
func (f *fields) require(d Diagnostic) {
	f.bad = true
	if !f.src.partial {
		d.Code = Missing
		f.refuse(f.header, d)
	}
}

// has tells whether the attribute is written.
func (f *fields) has(name string) bool { return f.body.Attributes[name] != nil }

// at returns the place of the attribute's value.
func (f *fields) at(name string) place { return f.src.at(f.body.Attributes[name].Expr.Range()) }

// value returns the value of the attribute, of exactly the type wanted.
func (f *fields) value(name string, want cty.Type, example string) (cty.Value, bool) {
	a := f.body.Attributes[name]
	if a == nil {
		return cty.NilVal, false
	}
	at := f.src.at(a.SrcRange)
	f.marks = append(f.marks, mark{name, at.start, at.end})
	return f.evaluate(a.Expr, name, want, name+" = "+example)
}

// evaluate returns the value of x, of exactly the type wanted; cty.DynamicPseudoType takes any.
// name and example are for messages.
func (f *fields) evaluate(x hclsyntax.Expression, name string, want cty.Type, example string) (cty.Value, bool) {
	v, p := f.r.eval.value(x)
	switch {
	case p != nil:
		f.refuse(f.src.at(p.at), p.diag)
		return cty.NilVal, false
	case !v.IsKnown():
		f.bad = true // what the parser leaves after a syntax error, which has been reported
		return cty.NilVal, false
	case v.IsNull():
		f.refuse(f.src.at(x.Range()), Diagnostic{
			Code: BadType, Summary: name + " is null", Fix: "To leave a setting out, remove its line.",
		})
		return cty.NilVal, false
	case want != cty.DynamicPseudoType && v.Type() != want:
		f.refuse(f.src.at(x.Range()), Diagnostic{
			Code:    BadType,
			Summary: fmt.Sprintf("%s must be %s, and is %s", name, typeName(want), typeName(v.Type())),
			Fix:     "Write it as " + example + ".",
		})
		return cty.NilVal, false
	}
	return v, true
}

// text returns a string attribute.
func (f *fields) text(name, example string) *string {
	v, ok := f.value(name, cty.String, example)
	if !ok {
		return nil
	}
	s := f.r.intern(v.AsString())
	return &s
}

// flag returns a bool attribute.
func (f *fields) flag(name string) *bool {
	v, ok := f.value(name, cty.Bool, "true")
	if !ok {
		return nil
	}
	b := v.True()
	return &b
}

// whole returns a whole number from least to most.
func (f *fields) whole(name string, least, most int) *int {
	v, ok := f.value(name, cty.Number, fmt.Sprint(least))
	if !ok {
		return nil
	}
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < int64(least) || n > int64(most) {
		f.refuse(f.at(name), Diagnostic{
			Code:    BadValue,
			Summary: fmt.Sprintf("%s must be a whole number from %d to %d", name, least, most),
		})
		return nil
	}
	result := int(n)
	return &result
}

// duration returns a duration from least to most.
func (f *fields) duration(name string, least, most time.Duration) *time.Duration {
	a := f.body.Attributes[name]
	if a == nil {
		return nil
	}
	if v, p := f.r.eval.value(a.Expr); p == nil && v.IsKnown() && !v.IsNull() && v.Type() == cty.Number {
		f.refuse(f.at(name), Diagnostic{
			Code:    BadDuration,
			Summary: name + " is a number without a unit",
			Fix:     fmt.Sprintf("Write it as a text: %s = \"%ss\" for seconds; the units are w d h m s ms.", name, v.AsBigFloat().Text('f', -1)),
		})
		return nil
	}
	v, ok := f.value(name, cty.String, `"30s"`)
	if !ok {
		return nil
	}
	text := v.AsString()
	d, err := job.ParseDuration(text)
	switch {
	case err != nil:
		f.refuse(f.at(name), Diagnostic{Code: BadDuration, Summary: fmt.Sprintf("%s: %s isn't a duration", name, shorten(text)), Fix: sentence(err.Error())})
		return nil
	case d < least || d > most:
		f.refuse(f.at(name), Diagnostic{
			Code:    BadDuration,
			Summary: fmt.Sprintf("%s is %s; it must be from %s to %s", name, job.FormatDuration(d), job.FormatDuration(least), job.FormatDuration(most)),
		})
		return nil
	}
	return &d
}

// choice returns a string attribute that is one of the allowed texts.
func choice[T ~string](f *fields, name string, allowed ...T) *T {
	v, ok := f.value(name, cty.String, fmt.Sprintf("%q", allowed[0]))
	if !ok {
		return nil
	}
	for _, a := range allowed {
		if v.AsString() == string(a) {
			return &a
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	f.refuse(f.at(name), notOneOf(name, v.AsString(), names))
	return nil
}

// notOneOf explains a text that isn't one of the allowed ones.
func notOneOf(name, found string, allowed []string) Diagnostic {
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	d := Diagnostic{
		Code:    BadValue,
		Summary: fmt.Sprintf("%s is %s; it must be one of %s", name, shorten(found), strings.Join(quoted, ", ")),
	}
	if near := nearest(found, allowed); near != "" {
		d.Fix = fmt.Sprintf("Did you mean %q?", near)
	}
	return d
}

// typeName names a type for people.
func typeName(t cty.Type) string {
	switch {
	case t == cty.String:
		return "a text in quotes"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "true or false"
	case t.IsTupleType() || t.IsListType():
		return "a list"
	case t.IsObjectType() || t.IsMapType():
		return "a map"
	}
	return "of another type"
}
