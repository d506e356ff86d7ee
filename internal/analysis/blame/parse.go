package blame

import (
	"errors"
	"fmt"
	"strings"
)

// MaxRuleLines bounds the lines of rules that a project may have: each is tried on each distinct frame.
const MaxRuleLines = 10_000

// A RuleError says what is wrong with a line of rules and what to write instead.
type RuleError struct {
	Line    int    // from 1
	Code    string // one of the Code constants
	Message string // one sentence, with what to write instead
}

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoArrow          = "no-arrow"
	CodeNoCondition      = "no-condition"
	CodeNoAction         = "no-action"
	CodeUnknownCondition = "unknown-condition"
	CodeUnknownAction    = "unknown-action"
	CodeEmptyValue       = "empty-value"
	CodeTwice            = "twice"
	CodeOpenQuote        = "open-quote"
	CodeUnknownOrigin    = "unknown-origin"
	CodeFrameLayer       = "frame-layer"
	CodeTooManyRules     = "too-many-rules"
	CodeBadStack         = "bad-stack"
)

func (e *RuleError) Error() string { return fmt.Sprintf("rules: line %d: %s", e.Line, e.Message) }

// ParseRules reads the rules of a project; the package's documentation has their form. Its error joins one *RuleError
// for each line that is wrong, in order; RuleErrors takes them apart.
func ParseRules(text string) (*Rules, error) {
	r, errs, count := &Rules{}, []error(nil), 0
	text = strings.TrimPrefix(text, "\uFEFF")
	line := 0
	for text != "" {
		var this string
		this, text, _ = strings.Cut(text, "\n")
		line++
		tokens, err := tokenize(line, strings.TrimRight(this, "\r"))
		if err == nil && len(tokens) == 0 {
			continue
		}
		if count++; count > MaxRuleLines {
			errs = append(errs, &RuleError{line, CodeTooManyRules,
				fmt.Sprintf("more than %d rules; merge some by patterns with * and ?", MaxRuleLines)})
			break
		}
		var made *rule
		if err == nil {
			made, err = parseRule(line, tokens)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.add(made)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// RuleErrors splits the error of ParseRules into the errors of its lines; nil for any other error.
func RuleErrors(err error) []*RuleError {
	var list []*RuleError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			list = append(list, RuleErrors(e)...)
		}
		return list
	}
	var one *RuleError
	if errors.As(err, &one) {
		list = append(list, one)
	}
	return list
}

func (r *Rules) add(made *rule) {
	if made.layer != "" {
		r.layers = append(r.layers, made)
	}
	switch {
	case made.stack != nil:
		r.addStack(made)
	case made.owner != "" || made.known != "" || made.group != "":
		r.attributes = append(r.attributes, made)
	}
}

// tokenize splits a line at spaces that stand in no quotes. Inside them \" is a quote; a # outside begins a comment.
func tokenize(line int, s string) ([]string, error) {
	var tokens []string
	var token strings.Builder
	open, some := false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case open && c == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
			token.WriteByte('"')
		case c == '"':
			open, some = !open, true
		case open:
			token.WriteByte(c)
		case c == '#' && !some:
			return tokens, nil
		case c == ' ' || c == '\t':
			if some {
				tokens = append(tokens, token.String())
				token.Reset()
				some = false
			}
		default:
			token.WriteByte(c)
			some = true
		}
	}
	if open {
		return nil, &RuleError{line, CodeOpenQuote, `a quote is not closed; write "like this", and \" for a quote inside`}
	}
	if some {
		tokens = append(tokens, token.String())
	}
	return tokens, nil
}
