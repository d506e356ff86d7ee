package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A goPackage is what the go command says of a package.
type goPackage struct {
	Dir, ImportPath                                                 string
	GoFiles, EmbedFiles, Imports                                    []string
	TestGoFiles, XTestGoFiles, TestImports, XTestImports, importers []string
}

// A product is the code of a module that is mutated at random: neither its tools, nor what only tests use, nor what is
// generated.
type product struct {
	root     string
	packages map[string]*goPackage // by import path
}

// readProduct lists the packages of the module in a folder.
func readProduct(ctx context.Context, dir string) (*product, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-json", "./...")
	cmd.Dir = root
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	p := &product{root: root, packages: map[string]*goPackage{}}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var one goPackage
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF):
			p.link()
			return p, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		p.packages[one.ImportPath] = &one
	}
}

// link notes who imports each package: its tests may notice what the package's own do not.
func (p *product) link() {
	for _, path := range slices.Sorted(maps.Keys(p.packages)) {
		one := p.packages[path]
		if p.isTool(one) || !one.hasTests() {
			continue
		}
		imports := slices.Concat(one.Imports, one.TestImports, one.XTestImports)
		slices.Sort(imports)
		for _, to := range slices.Compact(imports) {
			if of := p.packages[to]; of != nil && of != one {
				of.importers = append(of.importers, path)
			}
		}
	}
	for _, one := range p.packages { // those that import little build and run fastest
		slices.SortStableFunc(one.importers, func(a, b string) int {
			return cmp.Compare(len(p.packages[a].Imports), len(p.packages[b].Imports))
		})
	}
}

func (g *goPackage) hasTests() bool { return len(g.TestGoFiles)+len(g.XTestGoFiles) > 0 }

func (p *product) relative(path string) string {
	name, err := filepath.Rel(p.root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}

func (p *product) isTool(g *goPackage) bool {
	return strings.HasPrefix(p.relative(g.Dir)+"/", "tools/")
}

// isMutated reports whether a package is part of what users run. What serves tests imports "testing", or says so by its
// name.
func (p *product) isMutated(g *goPackage) bool {
	return !p.isTool(g) && !slices.Contains(g.Imports, "testing") && !strings.HasSuffix(g.ImportPath, "test")
}

// sources returns the files of a package that can be mutated.
func (g *goPackage) sources() []string {
	list := slices.Clone(g.GoFiles)
	for _, name := range g.EmbedFiles {
		if strings.HasSuffix(name, ".sql") {
			list = append(list, name)
		}
	}
	return list
}

// hasQueries reports whether string literals of the package may be SQL: those of any other are sentences.
func (g *goPackage) hasQueries() bool {
	return slices.ContainsFunc(g.Imports, func(path string) bool {
		return path == "database/sql" || strings.HasPrefix(path, "github.com/jackc/pgx/")
	})
}

// covered lists the packages that are mutated.
func (p *product) covered() string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(p.packages)) {
		if p.isMutated(p.packages[path]) {
			list = append(list, path)
		}
	}
	return strings.Join(list, ",")
}

// A place is a line of the product with the mutations that are possible there.
type place struct {
	file, code string
	of         *goPackage
	edits      []edit
}

// places returns every line that can be mutated, in the order of files and lines.
func (p *product) places() (list []place, err error) {
	for _, path := range slices.Sorted(maps.Keys(p.packages)) {
		g := p.packages[path]
		if !p.isMutated(g) {
			continue
		}
		for _, name := range g.sources() {
			text, err := os.ReadFile(filepath.Join(g.Dir, name))
			if err != nil {
				return nil, err
			}
			file, code := p.relative(filepath.Join(g.Dir, name)), string(text)
			edits := sqlEdits(code, false)
			if strings.HasSuffix(name, ".go") {
				if edits, err = goEdits(file, code, g.hasQueries()); err != nil {
					return nil, err
				}
			}
			list = append(list, byLine(place{file: file, code: code, of: g}, edits)...)
		}
	}
	return list, nil
}

// byLine parts the edits of a file by the line that they begin on.
func byLine(file place, edits []edit) (list []place) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	line, last := 0, -1
	at := 0
	for _, e := range edits {
		line += strings.Count(file.code[at:e.from], "\n")
		at = e.from
		if line != last {
			list = append(list, file)
			last = line
		}
		here := &list[len(list)-1]
		here.edits = append(here.edits, e)
	}
	return list
}
