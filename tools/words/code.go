package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Which literals of a Go file users read cannot be seen from the literal. The files in the table of held files are
// those whose sentences users read, and in them a literal of two words or more is a text; a single word may be a code,
// the name of a field or of a class of CSS, and is none. Concatenated literals are one text.

// letters tells words from the paths of drawings ("M2 6h8").
var letters = regexp.MustCompile(`\p{L}{2}`)

// namePattern is a word that matches names of functions, as in the tables of blame: "malloc*", "std::*", "*::xmalloc".
var namePattern = regexp.MustCompile(`^(\*::)?[\w<@.:~\[\]]+\*$|^\*?[\w<@.]*::[\w<@.:~\[\]]+\*?$`)

// patternsInList is how many words of a literal are such patterns at least where it is a table of names, not a text.
const patternsInList = 3

// isNameList reports whether a literal is a table of patterns of names, which no user reads.
func isNameList(words string) bool {
	n := 0
	for w := range strings.FieldsSeq(words) {
		if namePattern.MatchString(w) {
			n++
		}
	}
	return n >= patternsInList
}

// readGo finds the texts of a Go file.
func readGo(name string, content []byte) ([]text, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, content, 0)
	if err != nil {
		return nil, err
	}
	return goTexts(file, func(at token.Pos) position { return position{name, set.Position(at).Line} }), nil
}

// A position is a line of a file.
type position struct {
	file string
	line int
}

// goTexts collects the texts below a node of a syntax tree.
func goTexts(node ast.Node, where func(token.Pos) position) []text {
	var list []text
	add := func(at token.Pos, words string, raw bool) {
		p := where(at)
		for _, block := range blocks(words, raw) {
			if len(strings.Fields(block)) > 1 && letters.MatchString(block) && !isNameList(block) {
				list = append(list, text{p.file, p.line, prose, block})
			}
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.CaseClause, *ast.IndexExpr:
			if c, ok := n.(*ast.CaseClause); ok {
				for _, s := range c.Body {
					list = append(list, goTexts(s, where)...)
				}
			}
			return false
		case *ast.Field: // of its tag, users read the help of an environment variable
			if n.Tag != nil {
				add(n.Tag.Pos(), reflect.StructTag(value(n.Tag)).Get("help"), false)
				return false
			}
		case *ast.CallExpr:
			if isPlural(n) { // its noun is read beside a count
				for _, a := range n.Args[1:] {
					if l, ok := a.(*ast.BasicLit); ok && l.Kind == token.STRING {
						add(l.Pos(), "… "+value(l), false)
					}
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD && isConcatenation(n) {
				words, inner := concatenated(n)
				add(n.Pos(), words, false)
				for _, e := range inner {
					list = append(list, goTexts(e, where)...)
				}
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(n.Pos(), value(n), n.Value[0] == '`')
			}
		}
		return true
	})
	return list
}

// isPlural reports whether the call is to quantity.Plural, whose literal is a noun that a count stands before.
func isPlural(c *ast.CallExpr) bool {
	f, ok := c.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Plural" && len(c.Args) > 1
}

// isConcatenation reports whether a literal is among what is added.
func isConcatenation(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isConcatenation(e.X) || isConcatenation(e.Y))
	case *ast.ParenExpr:
		return isConcatenation(e.X)
	case *ast.BasicLit:
		return e.Kind == token.STRING
	}
	return false
}

// concatenated joins the literals of a sum, with "…" for what is computed, and lists that.
func concatenated(e ast.Expr) (words string, inner []ast.Expr) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			left, before := concatenated(e.X)
			right, after := concatenated(e.Y)
			return left + right, append(before, after...)
		}
	case *ast.ParenExpr:
		return concatenated(e.X)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return value(e), nil
		}
	}
	return "…", []ast.Expr{e}
}

func value(l *ast.BasicLit) string {
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return l.Value
	}
	return s
}

// blocks splits a literal of several lines into paragraphs: at empty lines, and before lines that are indented. Raw
// literals hold commands and examples, whose lines stand alone.
func blocks(words string, raw bool) []string {
	var list []string
	fresh := true
	for line := range strings.SplitSeq(words, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			fresh = true
		case fresh || raw || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
			list = append(list, strings.TrimSpace(line))
			fresh = false
		default:
			list[len(list)-1] += " " + line
		}
	}
	return list
}
