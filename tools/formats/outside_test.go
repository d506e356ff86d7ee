package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
)

// rows is the one file that names formats.
const rows = "ingest/formats.go"

// exceptions are files that may name a format, with the reason. A file that names none any more has to be taken out.
var exceptions = map[string]string{
	"ingest/capture/kinds.go":               "constants for fixtures; a new format adds none",
	"internal/analysis/blame/origin.go":     "umdh.exe as a module of Windows, among hundreds",
	"internal/analysis/blame/core_ends.go":  "vld.dll as a module of programs that load it",
	"internal/kit/kit.go":                   "umdh.exe as a program that takes evidence, which is a value of --evidence",
	"internal/suppressions/suppressions.go": "a form of suppressions, which is a value of --form",
	"ci/leaks-at-exit.yml":                  "the tool of a job, which is a value of its matrix",
	"internal/record/collect/collect.go":    "umdh.exe as a program that takes evidence, which is a value of --evidence",
}

// A new format is a package and a row: nothing else in the repository names a format, so nothing else has to change for
// a new one.
func TestNobodyElseNamesAFormat(t *testing.T) {
	formats := ingest.Formats()
	readers := readersOf(t, formats)
	r := repository{names: map[string][]evidence.Kind{}, constants: map[string][]evidence.Kind{}}
	for _, f := range formats {
		for _, name := range append([]string{string(f.Kind)}, f.CaptureKinds...) {
			if !slices.Contains(r.names[name], f.Kind) {
				r.names[name] = append(r.names[name], f.Kind)
			}
		}
	}
	r.walk(t)
	used := map[string]bool{}
	for _, f := range formats {
		var outside []string
		named := false
		for _, p := range r.places(f.Kind) {
			folder := strings.Join(strings.SplitN(p.file, "/", 3)[:2], "/") // "ingest/umdh"
			switch _, excepted := exceptions[p.file]; {
			case p.file == rows:
				named = true
			case slices.Contains(readers[f.Kind], folder):
			case excepted:
				used[p.file] = true
			default:
				outside = append(outside, p.file+":"+strconv.Itoa(p.line)+" "+p.text)
			}
		}
		if !named {
			t.Errorf("%s is not named in %s: this test looks past it", f.Kind, rows)
		}
		if len(outside) > 0 {
			t.Errorf("%s is named in %d places outside of its row and its reader; what is decided there belongs into the row:\n\t%s", f.Kind, len(outside), strings.Join(outside, "\n\t"))
		}
	}
	for file := range exceptions {
		if !used[file] {
			t.Errorf("%s names no format any more: take it out of the exceptions", file)
		}
	}
}

// No reader imports another: what two of them need is in a package that no row names. .golangci.yml says what else they
// may import; this test goes by the rows.
func TestNoReaderKnowsAnother(t *testing.T) {
	readers := readersOf(t, ingest.Formats())
	for kind, folders := range readers {
		for _, folder := range folders {
			files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: %v, %d files", folder, err, len(files))
			}
			for _, name := range files {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range file.Imports {
					path, _ := strconv.Unquote(i.Path.Value)
					for other, theirs := range readers {
						for _, their := range theirs {
							if other != kind && (path == "heapdrift/"+their || strings.HasPrefix(path, "heapdrift/"+their+"/")) {
								t.Errorf("%s, of %s, imports %s, of %s", name, kind, path, other)
							}
						}
					}
				}
			}
		}
	}
}

// readersOf gives the folders of the packages that the row of each format takes its reader from.
func readersOf(t *testing.T, formats evidence.Formats) map[evidence.Kind][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, rows), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string]string{} // folder below ingest, by the name of the package
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if folder, ok := strings.CutPrefix(path, "heapdrift/ingest/"); ok && folder != "evidence" && folder != "capture" {
			imported[folder[strings.LastIndex(folder, "/")+1:]] = "ingest/" + strings.Split(folder, "/")[0]
		}
	}
	readers := map[evidence.Kind][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		var kind evidence.Kind
		var folders []string
		ast.Inspect(row, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Kind" {
					text, _ := strconv.Unquote(n.Value.(*ast.BasicLit).Value)
					kind += evidence.Kind(text)
				}
			case *ast.SelectorExpr:
				if name, ok := n.X.(*ast.Ident); ok && imported[name.Name] != "" {
					folders = append(folders, imported[name.Name])
				}
			}
			return true
		})
		if formats.Of(kind).Kind != "" { // the literal is a single row, not all rows
			readers[kind] = append(readers[kind], folders...)
		}
		return true
	})
	for _, f := range formats {
		if len(readers[f.Kind]) == 0 {
			t.Errorf("%s has no row with a reader in %s", f.Kind, rows)
		}
	}
	return readers
}
