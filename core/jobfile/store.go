package jobfile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/anarchon-scheduler/anarchon/core/job"
	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// DefaultStore is the name and the plugin of the store of a configuration without a store
// block.
const DefaultStore = "sqlite"

// Store is a store block.
type Store struct {
	// Name is the block's label, by which jobs choose it.
	Name string
	// Plugin is the name of the plugin: a bare word, Name unless the block says otherwise.
	Plugin string

	src    *source
	header place
	body   *hclsyntax.Body
	eval   *evaluator
}

// Settings are the settings of a store block in the form that its plugin gets.
type Settings struct {
	// JSON is the object for pluginapi.Config: every name and type as the schema says, defaults
	// filled in, keys in order. It may hold secrets.
	JSON json.RawMessage

	store  *Store
	schema pluginapi.Schema
}

func (l *loader) newDefaultStore() *Store {
	src := &source{name: l.options.Path}
	l.stores[DefaultStore] = src.whole()
	return &Store{
		Name: DefaultStore, Plugin: DefaultStore,
		src: src, header: src.whole(), body: &hclsyntax.Body{}, eval: l.eval,
	}
}

// decodeStore reads what of a store block needs no plugin.
func (l *loader) decodeStore(top *fields, b *hclsyntax.Block) {
	name, ok := top.label(b, validStore, "A store's name has 1 to 63 of the characters a-z 0-9 _ -, and starts with a letter or digit.")
	f := &fields{r: &l.reader, src: top.src, owner: owner{store: name}, header: top.src.at(b.DefRange()), body: b.Body}
	s := &Store{Name: name, Plugin: name, src: f.src, header: f.header, body: b.Body, eval: l.eval}
	if plugin := f.text("plugin", `"sqlite"`); plugin != nil {
		s.Plugin = *plugin
		if !validStore(s.Plugin) {
			f.refuse(f.at("plugin"), Diagnostic{
				Code: BadValue, Summary: fmt.Sprintf("%s can't be the name of a plugin", shorten(s.Plugin)),
				Fix: "It is a bare word such as sqlite, not a path.",
			})
		}
	}
	if !ok {
		return
	}
	if first, twice := l.stores[name]; twice {
		f.refuse(f.header, Diagnostic{
			Code: Duplicate, Summary: fmt.Sprintf("the store %q already stands at %s", name, first),
			Fix: `Rename one of them, and say plugin = "…" in it.`,
		})
		return
	}
	l.stores[name] = f.header
	l.config.Stores = append(l.config.Stores, s)
}

// validStore tells whether name may name a store or a plugin: it becomes part of file names.
func validStore(name string) bool {
	return pluginapi.ValidJob(name) && len(name) <= 63 && !strings.ContainsAny(name, ".:")
}

// Decode checks the block against the plugin's schema and returns the settings for it, or
// everything that is wrong. A relative path is taken to be in dataDir, which is absolute.
func (s *Store) Decode(schema pluginapi.Schema, dataDir string) (*Settings, Diagnostics) {
	d := &decoder{
		reader:  reader{report: &report{}, eval: s.eval, texts: map[string]string{}},
		store:   s,
		dataDir: dataDir,
	}
	object := d.block(fmt.Sprintf("the store %q", s.Name), s.header, s.body, schema, "plugin")
	return &Settings{JSON: object, store: s, schema: schema}, d.report.diagnostics()
}

// decoder turns a store block into JSON.
type decoder struct {
	reader
	store   *Store
	dataDir string
}

// block returns the JSON object of a block. own are attributes of the core's.
func (d *decoder) block(what string, header place, body *hclsyntax.Body, schema pluginapi.Schema, own ...string) json.RawMessage {
	shape := shape{what: what, attributes: own}
	for _, a := range schema.Attributes {
		shape.attributes = append(shape.attributes, a.Name)
	}
	for _, b := range schema.Blocks {
		shape.blocks = append(shape.blocks, b.Name)
		if b.Nesting != pluginapi.NestSingle {
			shape.repeated = append(shape.repeated, b.Name)
		}
	}
	f := d.open(d.store.src, header, body, shape, owner{store: d.store.Name})
	object := map[string]json.RawMessage{}
	for _, a := range schema.Attributes {
		if v := d.attribute(f, a); v != nil {
			object[a.Name] = v
		}
	}
	for _, b := range schema.Blocks {
		if v := d.nested(f, b); v != nil {
			object[b.Name] = v
		}
	}
	return encode(object)
}

// attribute returns the JSON of an attribute, its default's, or nil.
func (d *decoder) attribute(f *fields, a pluginapi.Attribute) json.RawMessage {
	if a.Sensitive {
		f.secret = a.Name
		defer func() { f.secret = "" }()
	}
	if !f.has(a.Name) {
		if a.Required {
			f.require(Diagnostic{
				Summary: fmt.Sprintf("%s is missing", a.Name),
				Fix:     strings.TrimSpace(a.Description + " " + exampleOf(a)),
			})
			return nil
		}
		return d.fallback(a)
	}
	switch a.Type {
	case pluginapi.Bool:
		if v := f.flag(a.Name); v != nil {
			return encode(*v)
		}
	case pluginapi.Number:
		if v, ok := f.value(a.Name, cty.Number, "1"); ok {
			if text, err := ctyjson.Marshal(v, cty.Number); err == nil {
				return text
			}
		}
	case pluginapi.ListOfString:
		return d.list(f, a)
	case pluginapi.MapOfString:
		return d.pairs(f, a)
	default:
		if v := f.text(a.Name, `"text"`); v != nil {
			return d.text(f, a, *v)
		}
	}
	return nil
}

// fallback returns the JSON of an attribute's default, in the form the plugin gets.
func (d *decoder) fallback(a pluginapi.Attribute) json.RawMessage {
	var text string
	if a.Default == nil || a.Format == pluginapi.AnyText || json.Unmarshal(a.Default, &text) != nil {
		return a.Default
	}
	if formatted, err := d.format(a.Format, text); err == nil {
		return encode(formatted)
	}
	return a.Default
}

// text returns the JSON of a string, in the form that the plugin gets.
func (d *decoder) text(f *fields, a pluginapi.Attribute, text string) json.RawMessage {
	if len(a.OneOf) > 0 && !slices.Contains(a.OneOf, text) {
		f.refuse(f.at(a.Name), notOneOf(a.Name, text, a.OneOf))
		return nil
	}
	formatted, err := d.format(a.Format, text)
	if err != nil {
		f.refuse(f.at(a.Name), Diagnostic{
			Code: BadDuration, Summary: fmt.Sprintf("%s is %s, which can't be read", a.Name, shorten(text)), Fix: sentence(err.Error()),
		})
		return nil
	}
	return encode(formatted)
}

// format returns text in the form that the plugin gets.
func (d *decoder) format(format pluginapi.Format, text string) (string, error) {
	switch format {
	case pluginapi.DurationText:
		v, err := job.ParseDuration(text)
		return v.String(), err
	case pluginapi.SizeText:
		v, err := parseSize(text)
		return strconv.FormatInt(v, 10), err
	case pluginapi.PathText:
		if text == "" || strings.ContainsRune(text, 0) {
			return "", fmt.Errorf("it isn't a path; remove the line to use the default")
		}
		if filepath.IsAbs(text) {
			return filepath.Clean(text), nil
		}
		return filepath.Join(d.dataDir, text), nil
	default:
		return text, nil
	}
}

func (d *decoder) list(f *fields, a pluginapi.Attribute) json.RawMessage {
	items := f.list(a.Name, `["text"]`)
	texts := make([]string, 0, len(items))
	for i, x := range items {
		if v, ok := f.evaluate(x, fmt.Sprintf("%s[%d]", a.Name, i), cty.String, `"text"`); ok {
			texts = append(texts, v.AsString())
		}
	}
	return encode(texts)
}

func (d *decoder) pairs(f *fields, a pluginapi.Attribute) json.RawMessage {
	texts := map[string]string{}
	for _, item := range f.pairs(a.Name, `{ key = "text" }`) {
		if v, ok := f.evaluate(item.value, a.Name+"."+item.name, cty.String, `"text"`); ok {
			texts[item.name] = v.AsString()
		}
	}
	return encode(texts)
}

// nested returns the JSON of the blocks of one type, or nil where there are none.
func (d *decoder) nested(f *fields, b pluginapi.Block) json.RawMessage {
	var list []json.RawMessage
	named := map[string]json.RawMessage{}
	for _, block := range f.body.Blocks {
		if block.Type != b.Name {
			continue
		}
		header := f.src.at(block.DefRange())
		what := fmt.Sprintf("the block %q", b.Name)
		if b.Nesting != pluginapi.NestMap {
			if b.Nesting == pluginapi.NestList {
				f.noLabel(block)
			}
			list = append(list, d.block(what, header, block.Body, b.Schema))
			continue
		}
		label, ok := f.label(block, func(s string) bool { return s != "" }, "Write a name.")
		if _, twice := named[label]; twice && ok {
			f.refuse(header, Diagnostic{
				Code: Duplicate, Summary: fmt.Sprintf("there are two blocks %s %q", b.Name, label), Fix: "Merge the two, or rename one.",
			})
		}
		named[label] = d.block(what, header, block.Body, b.Schema)
	}
	switch {
	case len(named) > 0:
		return encode(named)
	case len(list) == 0:
		return nil
	case b.Nesting == pluginapi.NestSingle:
		return list[0]
	default:
		return encode(list)
	}
}

// exampleOf returns a sentence that shows how a is written.
func exampleOf(a pluginapi.Attribute) string {
	if a.Example == "" {
		return ""
	}
	return fmt.Sprintf("Write %s = %s.", a.Name, a.Example)
}

// encode returns v as JSON; maps have their keys in order. v is made of texts, numbers, lists
// and maps, which always have one.
func encode[T any](v T) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("jobfile: %T has no JSON: %v", v, err))
	}
	return text
}
