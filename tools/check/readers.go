package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A reader is a package or module whose tests read files of other folders.
type reader struct {
	dir   string // of the package or module
	reads string // a file or folder, relative to the root; "." for the whole repository
}

// findReaders finds in the tests the literals that lead out of their folder: "../../Dockerfile", or a filepath.Join
// that begins with "..". What does not exist is no file of the repository.
func (g *graph) findReaders() error {
	dirs := map[string][]string{} // files with tests, by folder
	for dir, p := range g.packages {
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			dirs[dir] = append(dirs[dir], filepath.Join(g.root, dir, name))
		}
	}
	for _, dir := range g.modules {
		names, err := filepath.Glob(filepath.Join(g.root, dir, "*_test.go"))
		if err != nil {
			return err
		}
		dirs[dir] = names
	}
	for dir, names := range dirs {
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("%s: %w", g.relative(name), err)
			}
			for _, to := range leadingOut(file) {
				if reads := path.Join(dir, to); g.isRead(to, reads) {
					g.readers = append(g.readers, reader{dir, reads})
				}
			}
		}
	}
	return nil
}

// isRead reports whether a literal names what is there. A mere "../.." is a file of the repository only where it is its
// root: tests of what refuses such paths have them, too.
func (g *graph) isRead(literal, reads string) bool {
	if strings.HasPrefix(reads, "..") || strings.Trim(literal, "./") == "" && reads != "." {
		return false
	}
	_, err := os.Stat(filepath.Join(g.root, filepath.FromSlash(reads)))
	return err == nil
}

// leadingOut lists the paths out of the folder that a file has as literals, each up to its first pattern or variable.
func leadingOut(file *ast.File) (paths []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			var parts []string
			for _, a := range n.Args {
				text, ok := literal(a)
				if !ok || strings.Contains(text, "*") {
					break
				}
				parts = append(parts, text)
			}
			if len(parts) > 0 && parts[0] == ".." {
				paths = append(paths, path.Join(parts...))
				return false
			}
		case *ast.BasicLit:
			if text, ok := literal(n); ok && strings.HasPrefix(text, "../") {
				before, _, _ := strings.Cut(text, "*")
				paths = append(paths, before)
			}
		}
		return true
	})
	return paths
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
