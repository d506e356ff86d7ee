package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// An edit replaces a part of a file.
type edit struct {
	from, to int // offsets in bytes
	with     string
	what     string // the operator, for the report
}

// flipped are the operators that a condition is changed to.
var flipped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// A mutator collects the mutations of one Go file.
type mutator struct {
	code  string
	at    func(token.Pos) int // the offset of a position
	sql   bool                // string literals may hold queries
	edits []edit
}

// goEdits returns all mutations of a Go file. Queries in its string literals are mutated where sql is true.
func goEdits(name, code string, sql bool) ([]edit, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, code, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file and the line
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	m := &mutator{code: code, at: func(p token.Pos) int { return files.PositionFor(p, false).Offset }, sql: sql}
	ast.Inspect(file, m.visit)
	return m.edits, nil
}

func (m *mutator) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.ImportSpec, *ast.Field: // paths and tags are no queries
		return false
	case *ast.BinaryExpr:
		if asksNowAndThen(n) {
			return false
		}
		m.binary(n)
	case *ast.IfStmt:
		m.negate(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			m.negateCases(n)
		}
	case *ast.ReturnStmt:
		m.swapReturns(n)
	case *ast.GenDecl:
		m.shiftConstants(n)
	case *ast.BlockStmt:
		m.dropStatements(n.List)
	case *ast.CaseClause:
		m.dropStatements(n.Body)
	case *ast.CommClause:
		m.dropStatements(n.Body)
	case *ast.BasicLit:
		m.query(n)
	}
	return true
}

func (m *mutator) text(n ast.Node) string { return m.code[m.at(n.Pos()):m.at(n.End())] }

func (m *mutator) replace(from, to token.Pos, with, what string) {
	m.edits = append(m.edits, edit{m.at(from), m.at(to), with, what})
}

// binary changes a comparison or its boundary, and drops either side of && and ||. What asks for an error is left out:
// every test that succeeds would fail with it, and say nothing.
func (m *mutator) binary(n *ast.BinaryExpr) {
	to, known := flipped[n.Op]
	if !known || asksForError(n) {
		return
	}
	m.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String(), n.Op.String()+" to "+to.String())
	if n.Op == token.LAND || n.Op == token.LOR {
		if !asksForError(n.Y) {
			m.replace(n.X.End(), n.Y.End(), "", "drop a condition")
		}
		if !asksForError(n.X) {
			m.replace(n.X.Pos(), n.Y.Pos(), "", "drop a condition")
		}
		return
	}
	m.shift(n.X)
	m.shift(n.Y)
}

// asksForError reports whether an expression compares an error with nil.
func asksForError(x ast.Expr) bool {
	n, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok && (isName(n.Y, "nil") && isError(n.X) || isName(n.X, "nil") && isError(n.Y))
}

// asksNowAndThen reports whether an error is asked for once in so many steps, as in i%64 == 0 && ctx.Err() != nil: how
// often that is so is a matter of speed.
func asksNowAndThen(n *ast.BinaryExpr) bool {
	every, ok := ast.Unparen(n.X).(*ast.BinaryExpr)
	if !ok || n.Op != token.LAND || every.Op != token.EQL || !asksForError(n.Y) {
		return false
	}
	step, ok := ast.Unparen(every.X).(*ast.BinaryExpr)
	return ok && step.Op == token.REM
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

func isError(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.HasSuffix(strings.ToLower(x.Name), "err")
	case *ast.SelectorExpr:
		return isError(x.Sel)
	case *ast.CallExpr:
		return isError(x.Fun)
	}
	return false
}

// negate negates a condition that is no comparison.
func (m *mutator) negate(x ast.Expr) {
	switch n := x.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			m.replace(n.Pos(), n.X.Pos(), "", "negate")
		}
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr:
		m.replace(n.Pos(), n.Pos(), "!", "negate")
	}
}

func (m *mutator) negateCases(n *ast.SwitchStmt) {
	for _, s := range n.Body.List {
		if c, ok := s.(*ast.CaseClause); ok {
			for _, x := range c.List {
				m.negate(x)
			}
		}
	}
}

// shift makes a number one greater, or a fraction a tenth: a boundary that no test stands at moves unnoticed.
func (m *mutator) shift(x ast.Expr) {
	n, ok := x.(*ast.BasicLit)
	if !ok {
		return
	}
	digits := strings.ReplaceAll(n.Value, "_", "")
	switch n.Kind {
	case token.INT:
		if v, ok := new(big.Int).SetString(digits, 0); ok {
			m.replace(n.Pos(), n.End(), v.Add(v, big.NewInt(1)).String(), "shift a boundary")
		}
	case token.FLOAT:
		if v, err := strconv.ParseFloat(digits, 64); err == nil {
			m.replace(n.Pos(), n.End(), strconv.FormatFloat(v*1.1, 'g', 6, 64), "shift a boundary")
		}
	}
}

// shiftConstants moves constants: of a product or a shift the first number. Numbers of formats, which stand in long
// lists, are boundaries of nothing.
func (m *mutator) shiftConstants(n *ast.GenDecl) {
	if n.Tok != token.CONST || len(n.Specs) > maxListed {
		return
	}
	for _, s := range n.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, x := range spec.Values {
			for b, ok := x.(*ast.BinaryExpr); ok; b, ok = x.(*ast.BinaryExpr) {
				x = b.X
			}
			m.shift(x)
		}
	}
}

// maxListed is how many constants of one declaration are taken for limits; more are an enumeration.
const maxListed = 8

// swapReturns returns true for false and the reverse.
func (m *mutator) swapReturns(n *ast.ReturnStmt) {
	for _, x := range n.Results {
		if isName(x, "true") {
			m.replace(x.Pos(), x.End(), "false", "true to false")
		} else if isName(x, "false") {
			m.replace(x.Pos(), x.End(), "true", "false to true")
		}
	}
}

// dropStatements drops calls and assignments to fields and elements. What is logged is left out: nothing depends on it.
func (m *mutator) dropStatements(list []ast.Stmt) {
	for _, s := range list {
		switch n := s.(type) {
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && !m.isLogged(call) && !isName(call.Fun, "panic") {
				m.replace(n.Pos(), n.End(), "", "drop a call")
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, isPart) {
				m.replace(n.Pos(), n.End(), "", "drop an assignment")
			}
		case *ast.IncDecStmt:
			m.replace(n.Pos(), n.End(), "", "drop an assignment")
		}
	}
}

func isPart(x ast.Expr) bool {
	switch ast.Unparen(x).(type) {
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return true
	}
	return false
}

// isLogged reports whether a call writes a log.
func (m *mutator) isLogged(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log", "Print", "Printf", "Println",
		"DebugContext", "InfoContext", "WarnContext", "ErrorContext", "LogAttrs"}, f.Sel.Name) {
		return false
	}
	return strings.Contains(strings.ToLower(m.text(f.X)), "log")
}

// query mutates a query in a string literal.
func (m *mutator) query(n *ast.BasicLit) {
	if n.Kind != token.STRING || !m.sql {
		return
	}
	begin, text := m.at(n.Pos())+1, n.Value[1:len(n.Value)-1]
	if !isQuery.MatchString(text) {
		return
	}
	// Go code goes on with the query where another operand follows.
	rest := strings.TrimLeft(m.code[m.at(n.End()):], " \t\n")
	for _, e := range sqlEdits(text, strings.HasPrefix(rest, "+")) {
		m.edits = append(m.edits, edit{begin + e.from, begin + e.to, e.with, e.what})
	}
}

// rowOf writes an edit as a row of a list: whole lines, and so many before them that they occur once in the file.
func rowOf(file, code string, e edit) row {
	begin := strings.LastIndexByte(code[:e.from], '\n') + 1
	end := len(code)
	if i := strings.IndexByte(code[e.to:], '\n'); i >= 0 {
		end = e.to + i
	}
	line := 1 + strings.Count(code[:e.from], "\n")
	for strings.Count(code, code[begin:end]) > 1 && begin > 0 {
		begin = strings.LastIndexByte(code[:begin-1], '\n') + 1
	}
	r := row{at: fmt.Sprintf("%s:%d", file, line), file: file, what: e.what}
	blank := len(code[begin:end]) - len(strings.TrimLeft(code[begin:end], " \t"))
	if begin+blank <= e.from && strings.Count(code, code[begin+blank:end]) == 1 {
		begin += blank
	}
	r.old, r.new = code[begin:end], code[begin:e.from]+e.with+code[e.to:end]
	return r
}
