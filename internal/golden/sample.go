package golden

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"regexp"
	"testing"
)

// note is what a sample says beside a line about it.
var note = regexp.MustCompile(`[ \t]*← .*`)

// Samples returns the code blocks of the comment above a type or function of a Go file, or above its package clause
// where name is "package". Notes beside a line begin with "←" and are cut off: what is left can be read as what a tool
// wrote. A comment without a sample is a failure: gofmt takes an indented block that begins with "+", "-" or "*" for a
// list and writes it anew.
func Samples(t testing.TB, file, name string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var samples []string
	for _, block := range new(comment.Parser).Parse(documentation(parsed, name)).Content {
		if code, ok := block.(*comment.Code); ok {
			samples = append(samples, note.ReplaceAllString(code.Text, ""))
		}
	}
	if len(samples) == 0 {
		t.Fatalf("%s: the comment of %s shows no sample", file, name)
	}
	return samples
}

// documentation is the text of a declaration's comment.
func documentation(file *ast.File, name string) string {
	if name == "package" {
		return file.Doc.Text()
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				return d.Doc.Text()
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.Name == name {
					return d.Doc.Text() + s.Doc.Text()
				}
			}
		}
	}
	return ""
}
