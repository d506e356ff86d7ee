package main

import (
	"path"
	"slices"
	"strings"
)

// touched is what a change touches. Folders are relative to the root and sorted.
type touched struct {
	changed   []string // packages with a changed file
	importers []string // packages that import them or read a changed file in their tests
	modules   []string // other modules with a changed file, or that read one
	templs    []string // changed .templ files
	lintAll   bool     // the rules of the linter changed
}

// touchedBy sorts the files by the packages that they belong to.
func (g *graph) touchedBy(files []string, all bool) (t touched) {
	built := map[string]bool{} // import paths of packages whose importers may behave differently
	for _, file := range files {
		switch {
		case file == "go.mod" || file == "go.sum":
			for dir := range g.packages {
				t.importers = append(t.importers, dir)
			}
		case file == ".golangci.yml" || strings.HasPrefix(file, "tools/lint/"):
			t.lintAll = true
		case path.Ext(file) == ".templ":
			t.templs = append(t.templs, file)
		}
		dir, isModule := g.folderOf(file)
		switch {
		case isModule:
			t.modules = append(t.modules, dir)
		case dir != "":
			t.changed = append(t.changed, dir)
			if p := g.packages[dir]; p.builds(dir, file) {
				built[p.ImportPath] = true
			}
		}
		for _, r := range g.readers {
			if r.reads == "." || r.reads == file || strings.HasPrefix(file, r.reads+"/") {
				if g.packages[r.dir] != nil {
					t.importers = append(t.importers, r.dir)
				} else {
					t.modules = append(t.modules, r.dir)
				}
			}
		}
	}
	t.importers = append(t.importers, g.importersOf(built, all)...)
	for _, list := range []*[]string{&t.changed, &t.importers, &t.modules} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	t.importers = slices.DeleteFunc(t.importers, func(dir string) bool { return slices.Contains(t.changed, dir) })
	return t
}
