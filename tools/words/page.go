package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"

	templ "github.com/a-h/templ/parser/v2"
)

// readTempl finds the texts of a page or component: text nodes joined over inline elements, attributes that browsers
// show or read out, and the literals of Go expressions.
func readTempl(name string, content []byte) ([]text, error) {
	file, err := templ.ParseString(string(content))
	if err != nil {
		return nil, err
	}
	p := &page{name: name}
	for _, n := range file.Nodes {
		switch n := n.(type) {
		case *templ.HTMLTemplate:
			p.nodes(n.Children, prose)
		case *templ.TemplateFileGoExpression:
			p.declarations(n.Expression)
		}
	}
	return p.texts, nil
}

// page collects the texts of one file.
type page struct {
	name  string
	texts []text
	run   strings.Builder // the text being joined
	line  int             // where it begins
}

// flush ends the text being joined.
func (p *page) flush(r role) {
	words := strings.TrimSpace(p.run.String())
	p.run.Reset()
	if strings.Trim(words, " …·,.:()") != "" {
		p.texts = append(p.texts, text{p.name, p.line, r, words})
	}
}

func (p *page) write(at templ.Range, words string) {
	if strings.TrimSpace(p.run.String()) == "" {
		p.line = int(at.From.Line) + 1
	}
	p.run.WriteString(words)
}

// inline are the elements that are part of the sentence around them.
var inline = wordSet("a b strong em i code span kbd small time br abbr samp var")

// nodes reads the children of a block.
func (p *page) nodes(list []templ.Node, r role) {
	for _, n := range list {
		p.node(n, r)
	}
	p.flush(r)
}

func (p *page) node(n templ.Node, r role) {
	switch n := n.(type) {
	case *templ.Text:
		p.write(n.Range, n.Value)
	case *templ.Whitespace:
		p.write(n.Range, " ")
	case *templ.StringExpression:
		p.write(n.Expression.Range, p.spoken(n.Expression))
	case *templ.Element:
		p.element(n, r)
	case *templ.RawElement:
		p.attributes(n.Attributes)
	case *templ.CallTemplateExpression:
		p.flush(r)
		p.expression(n.Expression)
	case *templ.TemplElementExpression:
		p.flush(r)
		p.expression(n.Expression)
		p.nodes(n.Children, r)
	case *templ.IfExpression: // each branch is a text of its own
		p.flush(r)
		p.nodes(n.Then, r)
		for _, e := range n.ElseIfs {
			p.nodes(e.Then, r)
		}
		p.nodes(n.Else, r)
	case *templ.SwitchExpression:
		p.flush(r)
		for _, c := range n.Cases {
			p.nodes(c.Children, r)
		}
	case *templ.ForExpression:
		p.flush(r)
		p.nodes(n.Children, r)
	}
	if t, ok := n.(templ.WhitespaceTrailer); ok && t.Trailing() != templ.SpaceNone && p.run.Len() > 0 {
		p.run.WriteString(" ")
	}
}

// element reads an element: an inline one continues the text, any other stands alone.
func (p *page) element(e *templ.Element, r role) {
	if e.Name == "pre" { // commands to copy
		p.flush(r)
		return
	}
	own := roleOf(e)
	if inline[e.Name] && own == prose {
		p.attributes(e.Attributes)
		if e.Name == "code" || e.Name == "kbd" || e.Name == "samp" {
			p.write(e.Range, "…")
			return
		}
		for _, n := range e.Children {
			p.node(n, r)
		}
		return
	}
	p.flush(r)
	p.attributes(e.Attributes)
	if own == prose && r != prose && e.Name != "svg" {
		own = r
	}
	p.nodes(e.Children, own)
}

func roleOf(e *templ.Element) role {
	switch e.Name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return heading
	case "button":
		return button
	case "a", "summary":
		for _, a := range e.Attributes {
			if c, ok := a.(*templ.ConstantAttribute); ok && c.Key.String() == "class" && isButtonClass(c.Value) {
				return button
			}
		}
	}
	return prose
}

func isButtonClass(classes string) bool {
	return slices.ContainsFunc(strings.Fields(classes), func(c string) bool { return c == "btn" || c == "btnlink" })
}

// shown are the attributes whose value users read or hear.
var shown = wordSet("title aria-label aria-description placeholder alt label hx-confirm")

func (p *page) attributes(list []templ.Attribute) {
	for _, a := range list {
		switch a := a.(type) {
		case *templ.ConstantAttribute:
			if shown[a.Key.String()] {
				p.texts = append(p.texts, text{p.name, attributeLine(a.Key), prose, a.Value})
			}
		case *templ.ExpressionAttribute:
			if shown[a.Key.String()] {
				p.expression(a.Expression)
			}
		case *templ.ConditionalAttribute:
			p.attributes(a.Then)
			p.attributes(a.Else)
		}
	}
}

func attributeLine(k templ.AttributeKey) int {
	if c, ok := k.(templ.ConstantAttributeKey); ok {
		return int(c.NameRange.From.Line) + 1
	}
	return 1
}

// spoken is what an expression in a text reads as: a literal itself, anything else "…"; the literals inside of it are
// texts of their own.
func (p *page) spoken(e templ.Expression) string {
	parsed, err := parser.ParseExpr(e.Value)
	if err != nil {
		return "…"
	}
	if isConcatenation(parsed) {
		words, inner := concatenated(parsed)
		for _, i := range inner {
			p.texts = append(p.texts, goTexts(i, p.at(e))...)
		}
		return words
	}
	p.texts = append(p.texts, goTexts(parsed, p.at(e))...)
	return "…"
}

// expression adds the literals of an expression.
func (p *page) expression(e templ.Expression) {
	if parsed, err := parser.ParseExpr(e.Value); err == nil {
		p.texts = append(p.texts, goTexts(parsed, p.at(e))...)
	}
}

// at gives positions in an expression the line where the expression begins.
func (p *page) at(e templ.Expression) func(token.Pos) position {
	return func(pos token.Pos) position {
		before := min(max(int(pos)-1, 0), len(e.Value))
		return position{p.name, int(e.Range.From.Line) + 1 + strings.Count(e.Value[:before], "\n")}
	}
}

// declarations reads the functions and variables that stand beside components.
func (p *page) declarations(e templ.Expression) {
	set := token.NewFileSet()
	const clause = "package p; "
	file, err := parser.ParseFile(set, p.name, clause+e.Value, 0)
	if err != nil {
		return
	}
	p.texts = append(p.texts, goTexts(file, func(at token.Pos) position {
		return position{p.name, int(e.Range.From.Line) + set.Position(at).Line}
	})...)
}
