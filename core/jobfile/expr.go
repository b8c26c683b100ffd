package jobfile

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// evaluator computes the values of expressions.
type evaluator struct {
	env     func(string) (string, bool)
	context *hcl.EvalContext
}

// problem is what is wrong with an expression.
type problem struct {
	at   hcl.Range
	diag Diagnostic
}

func newEvaluator(env func(string) (string, bool)) *evaluator {
	e := &evaluator{env: env}
	text := function.Parameter{Name: "name", Type: cty.String}
	e.context = &hcl.EvalContext{Functions: map[string]function.Function{
		"env": function.New(&function.Spec{
			Params:   []function.Parameter{text},
			VarParam: &function.Parameter{Name: "default", Type: cty.String},
			Type:     function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				if v, ok := env(args[0].AsString()); ok || len(args) < 2 {
					return cty.StringVal(v), nil
				}
				return args[1], nil
			},
		}),
	}}
	return e
}

// value returns the value of x, or what is wrong with it. Only expressions of the kinds that
// [evaluator.check] allows are ever computed: their cost is bounded by their length.
func (e *evaluator) value(x hclsyntax.Expression) (cty.Value, *problem) {
	if p := e.check(x); p != nil {
		return cty.NilVal, p
	}
	v, diags := x.Value(e.context)
	if diags.HasErrors() {
		d := diags[0]
		at := x.Range()
		if d.Subject != nil {
			at = *d.Subject
		}
		return cty.NilVal, &problem{at, Diagnostic{Code: BadExpr, Summary: d.Summary, Fix: d.Detail}}
	}
	return v, nil
}

// check returns why x isn't computed, or nil. Its recursion is bounded: guard has seen the
// tokens.
func (e *evaluator) check(x hclsyntax.Expression) *problem {
	switch x := x.(type) {
	case *hclsyntax.LiteralValueExpr:
		return nil
	case *hclsyntax.TemplateExpr:
		return e.checkAll(x.Parts)
	case *hclsyntax.TemplateWrapExpr:
		return e.check(x.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return e.check(x.Expression)
	case *hclsyntax.TupleConsExpr:
		return e.checkAll(x.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for _, item := range x.Items {
			if p := e.checkKey(item.KeyExpr); p != nil {
				return p
			}
			if p := e.check(item.ValueExpr); p != nil {
				return p
			}
		}
		return nil
	case *hclsyntax.UnaryOpExpr:
		// -5 is a number, to be told that it is out of range.
		if _, literal := x.Val.(*hclsyntax.LiteralValueExpr); literal && x.Op == hclsyntax.OpNegate {
			return nil
		}
	case *hclsyntax.FunctionCallExpr:
		return e.checkCall(x)
	case *hclsyntax.ScopeTraversalExpr:
		return unknownReference(x)
	}
	return refuse(x.Range(), Diagnostic{
		Code:    BadExpr,
		Summary: "expressions of this kind aren't supported by this version",
		Fix:     `Write the value itself: a text, a number, true or false, a list, a map, or env("NAME").`,
	})
}

func (e *evaluator) checkAll(xs []hclsyntax.Expression) *problem {
	for _, x := range xs {
		if p := e.check(x); p != nil {
			return p
		}
	}
	return nil
}

// checkKey checks the key of a map: a bare word is itself.
func (e *evaluator) checkKey(x hclsyntax.Expression) *problem {
	if key, ok := x.(*hclsyntax.ObjectConsKeyExpr); ok {
		if !key.ForceNonLiteral && hcl.ExprAsKeyword(key.Wrapped) != "" {
			return nil
		}
		x = key.Wrapped
	}
	return e.check(x)
}

// checkCall checks a call of env, the only function of this version.
func (e *evaluator) checkCall(x *hclsyntax.FunctionCallExpr) *problem {
	if x.Name != "env" {
		return refuse(x.NameRange, Diagnostic{
			Code:    NotYet,
			Summary: fmt.Sprintf("the function %q isn't supported by this version", x.Name),
			Fix:     `The only function is env("NAME") or env("NAME", "default").`,
		})
	}
	if len(x.Args) < 1 || len(x.Args) > 2 || x.ExpandFinal {
		return refuse(x.Range(), Diagnostic{
			Code:    BadExpr,
			Summary: "env takes a name, and perhaps a default",
			Fix:     `Write env("NAME") or env("NAME", "default").`,
		})
	}
	for _, arg := range x.Args {
		if p := e.check(arg); p != nil {
			return p
		}
		if v, diags := arg.Value(e.context); diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
			return refuse(arg.Range(), Diagnostic{
				Code:    BadType,
				Summary: "env takes texts",
				Fix:     `Write env("NAME") or env("NAME", "default").`,
			})
		}
	}
	if len(x.Args) == 2 {
		return nil
	}
	v, _ := x.Args[0].Value(e.context)
	name := v.AsString()
	if _, ok := e.env(name); ok {
		return nil
	}
	return refuse(x.Range(), Diagnostic{
		Code:    BadEnv,
		Summary: fmt.Sprintf("the environment variable %s isn't set", shorten(name)),
		Fix:     fmt.Sprintf(`Set it for this process, or give a default: env(%q, "...").`, name),
	})
}

// unknownReference explains a bare word or a path where a value should stand. It doesn't repeat
// the word, which may be a password without its quotes.
func unknownReference(x *hclsyntax.ScopeTraversalExpr) *problem {
	if len(x.Traversal) == 1 {
		return refuse(x.Range(), Diagnostic{
			Code: BadExpr, Summary: "a bare word isn't a value", Fix: "A text stands in quotes.",
		})
	}
	return refuse(x.Range(), Diagnostic{
		Code: NotYet, Summary: "references to other values aren't supported by this version", Fix: "Write the value itself.",
	})
}

// literal returns the text of a string without templates, and the place of its characters in
// the file where they stand there as they are, without escapes; else the whole expression's.
func (s *source) literal(x hclsyntax.Expression) (string, place, bool) {
	t, ok := x.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", place{}, false
	}
	part, ok := t.Parts[0].(*hclsyntax.LiteralValueExpr)
	if !ok || !part.Val.IsKnown() || part.Val.IsNull() {
		return "", place{}, false
	}
	text := part.Val.AsString()
	inner := s.at(part.SrcRange)
	if int(inner.end) <= len(s.text) && inner.start < inner.end && string(s.text[inner.start:inner.end]) == text {
		return text, inner, true
	}
	return text, s.at(x.Range()), true
}

func refuse(at hcl.Range, d Diagnostic) *problem { return &problem{at, d} }

// shorten returns text in quotes, cut where it is too long for a message.
func shorten(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
