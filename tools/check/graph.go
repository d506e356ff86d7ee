package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A graph is the packages of the main module, and what is beside it in the repository.
type graph struct {
	root     string
	packages map[string]*goPackage // by folder, relative to the root, with slashes
	modules  []string              // folders of other modules
	readers  []reader
}

// A goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir                       string
	Imports, TestImports, XTestImports    []string
	EmbedFiles, TestGoFiles, XTestGoFiles []string
}

// loadGraph asks go list. Packages that do not build are listed, too: what a change broke is what has to be tested.
func loadGraph(ctx context.Context, root string) (*graph, error) {
	g := &graph{root: root, packages: map[string]*goPackage{}}
	cmd := exec.CommandContext(ctx, "go", "list", "-e",
		"-json=ImportPath,Dir,Imports,TestImports,XTestImports,EmbedFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		g.packages[g.relative(p.Dir)] = p
	}
	if err := g.findModules(ctx); err != nil {
		return nil, err
	}
	return g, g.findReaders()
}

func (g *graph) relative(dir string) string {
	// go list resolves no symbolic links that the caller's folder has, and neither does root.
	if rel, err := filepath.Rel(g.root, dir); err == nil {
		return filepath.ToSlash(rel)
	}
	return dir
}

// findModules finds the modules beside the main one that have code of their own.
func (g *graph) findModules(ctx context.Context) error {
	files, err := git(ctx, g.root, "ls-files", "--cached", "--others", "--exclude-standard", "*/go.mod")
	if err != nil {
		return err
	}
	for _, file := range strings.Fields(files) {
		dir := path.Dir(file)
		if code, _ := filepath.Glob(filepath.Join(g.root, dir, "*.go")); len(code) > 0 && !strings.Contains(file, "testdata/") {
			g.modules = append(g.modules, dir)
		}
	}
	return nil
}

// folderOf is the folder of the package or module that a file belongs to; "" for a file that belongs to none.
func (g *graph) folderOf(file string) (dir string, isModule bool) {
	for dir = path.Dir(file); ; dir = path.Dir(dir) {
		if slices.Contains(g.modules, dir) {
			return dir, true
		}
		if g.packages[dir] != nil {
			return dir, false
		}
		if dir == "." {
			return "", false
		}
	}
}

// builds reports whether a file is part of what importers of its package are built from.
func (p *goPackage) builds(dir, file string) bool {
	if path.Ext(file) == ".go" {
		return path.Dir(file) == dir && !strings.HasSuffix(file, "_test.go")
	}
	return path.Ext(file) == ".templ" || slices.Contains(p.EmbedFiles, strings.TrimPrefix(file, dir+"/"))
}

// importersOf adds the folders of packages that import one of the packages, in their code or in their tests. With all,
// it adds those that reach one by the code of others, too.
func (g *graph) importersOf(paths map[string]bool, all bool) (dirs []string) {
	reached := map[string]bool{}
	for p := range paths {
		reached[p] = true
	}
	isReached := func(i string) bool { return reached[i] }
	for grows := all; grows; {
		grows = false
		for _, p := range g.packages {
			if !reached[p.ImportPath] && slices.ContainsFunc(p.Imports, isReached) {
				reached[p.ImportPath], grows = true, true
			}
		}
	}
	for dir, p := range g.packages {
		if reached[p.ImportPath] || slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), isReached) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
