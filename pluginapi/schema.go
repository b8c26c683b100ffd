package pluginapi

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Type is the type of an attribute, written as cty writes types in JSON.
type Type string

// The types of attributes. Durations and sizes are strings for the user ("5s", "64KiB"); the
// core checks them and sends a duration in Go's form and a size as a whole number of bytes.
const (
	String       Type = `"string"`
	Bool         Type = `"bool"`
	Number       Type = `"number"`
	ListOfString Type = `["list","string"]`
	MapOfString  Type = `["map","string"]`
)

// Format narrows a string attribute.
type Format int

const (
	// AnyText is any text.
	AnyText Format = iota
	// DurationText is a duration: the user writes "90s" or "7d", the plugin gets Go's form.
	DurationText
	// SizeText is a size: the user writes "64KiB", the plugin gets the bytes as digits.
	SizeText
	// PathText is a file's path. A relative one is relative to the instance's data directory;
	// the plugin gets it absolute.
	PathText
)

// Nesting says how often a block may stand and how its settings are keyed in the JSON.
type Nesting int

const (
	// NestSingle is at most one block: an object.
	NestSingle Nesting = iota
	// NestList is any number of blocks: an array of objects, in order.
	NestList
	// NestMap is any number of blocks with one label each: an object of objects by label.
	NestMap
)

// Schema describes the settings of a store block. The core checks the user's HCL against it,
// so that a plugin only ever sees settings of the right names and types.
type Schema struct {
	// Attributes are the block's attributes, in the order in which docs list them.
	Attributes []Attribute `json:"attributes,omitempty"`
	// Blocks are the blocks within it.
	Blocks []Block `json:"blocks,omitempty"`
}

// Attribute is one setting.
type Attribute struct {
	// Name is the setting's name: [a-z][a-z0-9_]*.
	Name string `json:"name"`
	// Type is its type; [String] when empty.
	Type Type `json:"type"`
	// Format narrows a string.
	Format Format `json:"format,omitempty"`
	// Required tells that the user must write it; then Default is ignored.
	Required bool `json:"required,omitempty"`
	// Sensitive tells that its value is a secret: it is shown nowhere.
	Sensitive bool `json:"sensitive,omitempty"`
	// Default is the value when the user writes none; nil means absent from the settings.
	Default json.RawMessage `json:"default,omitempty"`
	// OneOf are the allowed values of a string; empty means any.
	OneOf []string `json:"one_of,omitempty"`
	// Description says what it means: unit, range, what the default is and why.
	Description string `json:"description"`
	// Example is a value in HCL, for docs; may be empty.
	Example string `json:"example,omitempty"`
}

// Block is a group of settings.
type Block struct {
	// Name is the block's name: [a-z][a-z0-9_]*.
	Name string `json:"name"`
	// Nesting says how often it may stand.
	Nesting Nesting `json:"nesting,omitempty"`
	// Description says what it is for.
	Description string `json:"description"`
	// Schema is what may stand in it.
	Schema Schema `json:"schema"`
}

// DecodeSettings decodes a store's settings into the struct that out points to. A setting
// that the struct doesn't know is an [Invalid] error: plugin and schema disagree.
func DecodeSettings(config Config, out any) error {
	if len(config.Settings) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(config.Settings))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return Errorf(Invalid, "decode settings", "%w", err)
	}
	return nil
}

// Check returns what is wrong with the schema itself, or nil: names that aren't words or
// stand twice, unknown types, defaults that don't decode. The conformance suite calls it.
func (s Schema) Check() error {
	seen := map[string]bool{}
	for _, a := range s.Attributes {
		if err := checkName(a.Name, seen); err != nil {
			return err
		}
		switch a.Type {
		case String, Bool, Number, ListOfString, MapOfString, "":
		default:
			return fmt.Errorf("attribute %q: type %s isn't one of the types of this package", a.Name, a.Type)
		}
		if a.Default != nil && !json.Valid(a.Default) {
			return fmt.Errorf("attribute %q: the default isn't JSON", a.Name)
		}
		if a.Description == "" {
			return fmt.Errorf("attribute %q has no description", a.Name)
		}
	}
	for _, b := range s.Blocks {
		if err := checkName(b.Name, seen); err != nil {
			return err
		}
		if err := b.Schema.Check(); err != nil {
			return fmt.Errorf("block %q: %w", b.Name, err)
		}
	}
	return nil
}

func checkName(name string, seen map[string]bool) error {
	for i, r := range name {
		if (r < 'a' || r > 'z') && (i == 0 || (r < '0' || r > '9') && r != '_') {
			return fmt.Errorf("name %q: want a lower-case letter, then lower-case letters, digits and _", name)
		}
	}
	if name == "" || seen[name] {
		return fmt.Errorf("name %q is empty or stands twice", name)
	}
	seen[name] = true
	return nil
}
