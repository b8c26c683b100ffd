package jobfile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// pair is one entry of a map as it is written.
type pair struct {
	name       string
	key, value hclsyntax.Expression
}

// list returns the elements of a list attribute as they are written.
func (f *fields) list(name, example string) []hclsyntax.Expression {
	x := unwrap(f.body.Attributes[name].Expr)
	if list, ok := x.(*hclsyntax.TupleConsExpr); ok {
		return list.Exprs
	}
	f.wrongCollection(name, "a list", x, example)
	return nil
}

// pairs returns the entries of a map attribute as they are written. A key that stands twice
// is reported: the first value would be lost in silence.
func (f *fields) pairs(name, example string) []pair {
	x := unwrap(f.body.Attributes[name].Expr)
	object, ok := x.(*hclsyntax.ObjectConsExpr)
	if !ok {
		f.wrongCollection(name, "a map", x, example)
		return nil
	}
	pairs := make([]pair, 0, len(object.Items))
	seen := make(map[string]place, len(object.Items))
	for _, item := range object.Items {
		if p := f.r.eval.checkKey(item.KeyExpr); p != nil {
			f.refuse(f.src.at(p.at), p.diag)
			continue
		}
		key, diags := item.KeyExpr.Value(f.r.eval.context)
		at := f.src.at(item.KeyExpr.Range())
		if diags.HasErrors() || !key.IsKnown() || key.IsNull() || key.Type() != cty.String {
			f.refuse(at, Diagnostic{Code: BadType, Summary: "the key of a map must be a text", Fix: "Write it in quotes."})
			continue
		}
		text := key.AsString()
		if first, twice := seen[text]; twice {
			f.refuse(at, Diagnostic{
				Code:    Duplicate,
				Summary: fmt.Sprintf("%s already stands at %s", shorten(text), first),
				Fix:     "Remove one of them.",
			})
			continue
		}
		seen[text] = at
		pairs = append(pairs, pair{text, item.KeyExpr, item.ValueExpr})
	}
	return pairs
}

// wrongCollection reports an attribute that isn't written as a list or a map.
func (f *fields) wrongCollection(name, want string, x hclsyntax.Expression, example string) {
	v, ok := f.evaluate(x, name, cty.DynamicPseudoType, example)
	if !ok {
		return // reported
	}
	f.refuse(f.src.at(x.Range()), Diagnostic{
		Code:    BadType,
		Summary: fmt.Sprintf("%s must be %s, and is %s", name, want, typeName(v.Type())),
		Fix:     fmt.Sprintf("Write it as %s = %s.", name, example),
	})
}

// unwrap returns x without the round brackets around it.
func unwrap(x hclsyntax.Expression) hclsyntax.Expression {
	for {
		p, ok := x.(*hclsyntax.ParenthesesExpr)
		if !ok {
			return x
		}
		x = p.Expression
	}
}
