package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
)

// A place is where a format is named.
type place struct {
	file, text string
	line       int
	constant   string // "package.Name" of its declaration or use, else ""
}

// A repository holds the literals and constants of all sources that are built into the product or served by it.
type repository struct {
	names     map[string][]evidence.Kind // of formats and their captures
	literals  []place
	constants map[string][]evidence.Kind // "package.Name"
	selectors []place
}

// places are where a format is named, by a literal or by a constant.
func (r *repository) places(kind evidence.Kind) (list []place) {
	for _, p := range r.literals {
		if slices.Contains(r.names[p.text], kind) {
			list = append(list, p)
		}
	}
	for _, p := range r.selectors {
		if slices.Contains(r.constants[p.constant], kind) {
			list = append(list, p)
		}
	}
	return list
}

// quoted are words in quotation marks that are not the value of an attribute.
var quotedWord = regexp.MustCompile("[^=]([\"'`])([a-z-]+)([\"'`])")

// walk reads all sources but tests, their packages, and what is generated.
func (r *repository) walk(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Clean(root)+string(filepath.Separator)))
		if d.IsDir() {
			if skipped := []string{"testdata", "docs", "node_modules", "bin", "tools"}; slices.Contains(skipped, d.Name()) ||
				strings.HasPrefix(d.Name(), ".") && path != root || strings.HasSuffix(d.Name(), "test") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go") {
			return nil
		}
		switch filepath.Ext(name) {
		case ".go":
			return r.parse(path, name)
		case ".templ", ".sql", ".yaml", ".yml", ".js":
			return r.search(path, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *repository) parse(path, name string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && len(r.names[text]) > 0 {
				r.literals = append(r.literals, place{file: name, text: text, line: set.Position(n.Pos()).Line})
			}
		case *ast.ValueSpec:
			for i, v := range n.Values {
				if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, _ := strconv.Unquote(literal.Value)
					key := file.Name.Name + "." + n.Names[i].Name
					r.constants[key] = append(r.constants[key], r.names[text]...)
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				text := x.Name + "." + n.Sel.Name
				r.selectors = append(r.selectors, place{file: name, text: text, line: set.Position(n.Pos()).Line, constant: text})
			}
		}
		return true
	})
	return nil
}

func (r *repository) search(path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	generated := false
	for i, line := range strings.Split(string(text), "\n") {
		generated = strings.Contains(line, "formats:begin") || generated && !strings.Contains(line, "formats:end")
		for _, m := range quotedWord.FindAllStringSubmatch(" "+line, -1) {
			if !generated && m[1] == m[3] && len(r.names[m[2]]) > 0 {
				r.literals = append(r.literals, place{file: name, text: m[2], line: i + 1})
			}
		}
	}
	return nil
}
