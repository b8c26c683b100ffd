package jobfile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// HCL's parser and its expressions recurse as deeply as the text nests, and a goroutine's
// stack that overflows ends the process: no recover can catch it. So the tokens, which come
// from a scanner that doesn't recurse, are looked through first. What passes nests at most
// maxDepth brackets, each of which holds chains of at most
// maxChain operators.
const (
	maxDepth  = 64
	maxChain  = 64
	maxNumber = 32 // characters
	// maxPieces is the most lines of a text. The parser joins them in quadratic time: a hundred
	// thousand short lines take it most of a minute.
	maxPieces = 2000
)

// refusal is why a file isn't parsed.
type refusal struct {
	token hclsyntax.Token
	diag  Diagnostic
}

// bracket is an opened bracket, quote or template, with the operators of the expression that
// stands in it now and the pieces of its text.
type bracket struct {
	opened hclsyntax.TokenType
	chain  int
	pieces int
}

// guard returns why the tokens mustn't be parsed, or nil.
func guard(tokens hclsyntax.Tokens) *refusal {
	open := make([]bracket, 1, maxDepth+1)
	for _, t := range tokens {
		top := &open[len(open)-1]
		switch t.Type {
		case hclsyntax.TokenComma:
			top.chain = 0
		case hclsyntax.TokenNewline:
			// In round and square brackets an expression goes on after a newline.
			if top.opened == hclsyntax.TokenNil || top.opened == hclsyntax.TokenOBrace {
				top.chain = 0
			}
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
			if top.pieces++; top.pieces > maxPieces {
				return &refusal{t, Diagnostic{
					Code:    TooDeep,
					Summary: fmt.Sprintf("the text has more than %d lines or parts", maxPieces),
					Fix:     "Put it into a file.",
				}}
			}
		case hclsyntax.TokenNumberLit:
			if absurd(t.Bytes) {
				return &refusal{t, Diagnostic{
					Code:    BadNumber,
					Summary: "the number is too long, or its exponent too large",
					Fix:     fmt.Sprintf("Numbers have at most %d characters, and exponents at most two digits.", maxNumber),
				}}
			}
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			// A closer that doesn't fit is left for the parser to report; not popping keeps
			// the depth at least what the parser's is.
			if len(open) > 1 && closes(top.opened, t.Type) {
				open = open[:len(open)-1]
			}
		default:
			if !isOperator(t.Type) {
				break
			}
			if top.chain++; top.chain > maxChain {
				return &refusal{t, Diagnostic{
					Code:    TooDeep,
					Summary: fmt.Sprintf("more than %d operators stand in one expression", maxChain),
					Fix:     "Write the value itself.",
				}}
			}
		}
		if !opens(t.Type) {
			continue
		}
		if len(open) > maxDepth {
			return &refusal{t, Diagnostic{
				Code:    TooDeep,
				Summary: fmt.Sprintf("brackets, blocks and templates are nested more than %d deep", maxDepth),
				Fix:     "Nothing in the language needs that; look for a bracket that isn't closed.",
			}}
		}
		open = append(open, bracket{opened: t.Type})
	}
	return nil
}

// hasDefaults tells whether a defaults block stands at the top level of the tokens. Its file
// is read first, since jobs of all files need it.
func hasDefaults(tokens hclsyntax.Tokens) bool {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.Type == hclsyntax.TokenOBrace:
			depth++
		case t.Type == hclsyntax.TokenCBrace:
			depth--
		case depth == 0 && t.Type == hclsyntax.TokenIdent && string(t.Bytes) == "defaults" &&
			i+1 < len(tokens) && tokens[i+1].Type == hclsyntax.TokenOBrace:
			return true
		}
	}
	return false
}

func opens(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
		hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return true
	default:
		return false
	}
}

func closes(opened, closer hclsyntax.TokenType) bool {
	switch opened {
	case hclsyntax.TokenOBrace:
		return closer == hclsyntax.TokenCBrace
	case hclsyntax.TokenOBrack:
		return closer == hclsyntax.TokenCBrack
	case hclsyntax.TokenOParen:
		return closer == hclsyntax.TokenCParen
	case hclsyntax.TokenOQuote:
		return closer == hclsyntax.TokenCQuote
	case hclsyntax.TokenOHeredoc:
		return closer == hclsyntax.TokenCHeredoc
	default:
		return closer == hclsyntax.TokenTemplateSeqEnd
	}
}

// isOperator tells whether t makes an expression deeper: also an index, a call, and a
// template's directive, since %{if} nests without a bracket.
func isOperator(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenMinus, hclsyntax.TokenBang, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
		hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual,
		hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq,
		hclsyntax.TokenQuestion, hclsyntax.TokenColon, hclsyntax.TokenDot, hclsyntax.TokenDoubleColon,
		hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateControl:
		return true
	default:
		return false
	}
}

// absurd tells whether a number would cost more to compute with than anybody means.
func absurd(number []byte) bool {
	digits, exponent := 0, false
	for _, c := range number {
		switch {
		case c == 'e' || c == 'E':
			exponent, digits = true, 0
		case c >= '0' && c <= '9':
			digits++
		}
	}
	return len(number) > maxNumber || exponent && digits > 2
}
