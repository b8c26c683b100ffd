package jobfile

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/anarchon-scheduler/anarchon/pluginapi"
)

// Locate maps what the plugin says about its settings to the user's lines: as deep into the
// block as each path leads, and to the block itself where a setting isn't written. Lines that
// hold a sensitive setting aren't shown.
func (s *Settings) Locate(found []pluginapi.Diagnostic) Diagnostics {
	r := &report{}
	for _, p := range found {
		d := Diagnostic{Severity: Error, Code: BadSetting, Summary: p.Summary, Fix: p.Detail, Store: s.store.Name}
		if p.Severity == pluginapi.SeverityWarning {
			d.Severity = Warning
		}
		if p.Code != "" {
			d.Code = Code(p.Code)
		}
		at, sensitive := s.find(s.store.header, s.store.body, s.schema, p.Path)
		d.snippet.hidden = sensitive
		r.add(at, d)
	}
	return r.diagnostics()
}

// find returns the place of the path in a block, and whether a sensitive value stands there.
func (s *Settings) find(header place, body *hclsyntax.Body, schema pluginapi.Schema, path []pluginapi.Step) (place, bool) {
	if len(path) == 0 {
		return header, false
	}
	for _, a := range schema.Attributes {
		if written := body.Attributes[a.Name]; a.Name == path[0].Name && written != nil {
			return s.store.src.at(deepest(written.Expr, path[1:]).Range()), a.Sensitive
		}
	}
	for _, b := range schema.Blocks {
		if b.Name == path[0].Name {
			if block, rest := choose(body, b, path[1:]); block != nil {
				return s.find(s.store.src.at(block.DefRange()), block.Body, b.Schema, rest)
			}
		}
	}
	return header, false
}

// choose returns the block of that type that the path goes through, and the rest of the path.
func choose(body *hclsyntax.Body, b pluginapi.Block, path []pluginapi.Step) (*hclsyntax.Block, []pluginapi.Step) {
	n := 0
	for _, block := range body.Blocks {
		if block.Type != b.Name {
			continue
		}
		switch {
		case b.Nesting == pluginapi.NestSingle:
			return block, path
		case len(path) == 0:
			return block, nil
		case b.Nesting == pluginapi.NestMap && len(block.Labels) == 1 && block.Labels[0] == path[0].Name,
			b.Nesting == pluginapi.NestList && n == path[0].Index:
			return block, path[1:]
		}
		n++
	}
	return nil, nil
}

// deepest returns the element of a list or map that the path leads to, or the last one on the
// way there.
func deepest(x hclsyntax.Expression, path []pluginapi.Step) hclsyntax.Expression {
	for _, step := range path {
		next := element(unwrap(x), step)
		if next == nil {
			break
		}
		x = next
	}
	return x
}

func element(x hclsyntax.Expression, step pluginapi.Step) hclsyntax.Expression {
	switch x := x.(type) {
	case *hclsyntax.TupleConsExpr:
		if step.Name == "" && step.Index >= 0 && step.Index < len(x.Exprs) {
			return x.Exprs[step.Index]
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range x.Items {
			key, diags := item.KeyExpr.Value(nil)
			if !diags.HasErrors() && key.IsKnown() && !key.IsNull() && key.Type() == cty.String && key.AsString() == step.Name {
				return item.ValueExpr
			}
		}
	}
	return nil
}
