package symsrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FindByName returns the files on this machine that go by a name, without regard to case: in plain directories and
// their <ext> and symbols/<ext> folders, and under every key in directories, stores and caches. They are candidates for
// evidence that has no ids; which one fits is for the caller to find out. Files come in the order of the path, those of
// a store in the order of their keys. Compressed files and pointers are left out: their keys say what Find can get.
//
// Beside the files stands an *Error of code CodeTooMany if there are more than Limits.Named, or of code CodeUnreadable
// if some folder could not be searched.
func (p *SymbolPath) FindByName(ctx context.Context, name string) ([]string, error) {
	base := BaseName(name)
	if why := badName(base); why != "" {
		return nil, &Error{Code: CodeBadIdentity, Message: fmt.Sprintf("%q is no file name: %s", name, why)}
	}
	s := &search{path: p, folders: p.folders.view()}
	n := &namesakes{folders: s.folders, name: base, limit: p.opt.Limits.Named, seen: make(map[string]bool)}
	for _, e := range p.elements {
		for i, lv := range e.levels {
			if ctx.Err() != nil {
				return n.found, context.Cause(ctx)
			}
			root, why := s.root(lv)
			if lv.unmapped && n.trouble == nil {
				n.trouble = errors.New(lv.text + ": " + why)
			}
			if root == "" {
				continue
			}
			if e.kind != cacheElement && i == len(e.levels)-1 { // caches and downstream stores are made when they are needed
				if err := absent(root); err != nil {
					n.trouble = cmp.Or(n.trouble, err)
					continue
				}
			}
			if e.kind == directoryElement && i == len(e.levels)-1 {
				n.directory(root)
				if p.opt.Below {
					if err := n.below(ctx, p, root); err != nil {
						return n.found, err
					}
				}
			}
			if !n.seen[root] {
				n.seen[root] = true
				n.store(ctx, root)
			}
			if len(n.found) > n.limit {
				return n.found[:n.limit],
					&Error{Code: CodeTooMany,
						Message: fmt.Sprintf("more than %d files are called %s; the search stopped at %s", n.limit, base, root)}
			}
		}
	}
	if ctx.Err() != nil {
		return n.found, context.Cause(ctx)
	}
	if n.trouble != nil {
		return n.found, &Error{Code: CodeUnreadable, Message: "not every folder could be searched for " + base,
			Err: n.trouble}
	}
	return n.found, nil
}

// absent says that a root is not there, or no directory; nil where it is one.
func absent(root string) error {
	switch info, err := os.Stat(root); {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no directory " + root)
	case err == nil && !info.IsDir():
		return errors.New(root + " is a file: a symbol path takes the directory that it lies in")
	}
	return nil
}

// namesakes collects files that go by one name; it stops one beyond the limit.
type namesakes struct {
	folders view
	name    string
	limit   int
	found   []string
	seen    map[string]bool // files and roots
	trouble error           // the first
}

func (n *namesakes) add(path string, err error) (more bool) {
	if err != nil {
		if n.trouble == nil {
			n.trouble = err
		}
		return true
	}
	if !n.seen[path] {
		n.seen[path] = true
		n.found = append(n.found, path)
	}
	return len(n.found) <= n.limit
}

func (n *namesakes) directory(root string) {
	for _, way := range subfolders(n.name) {
		for path, err := range n.folders.files(root, append(way[:len(way):len(way)], n.name)...) {
			if !n.add(path, err) {
				return
			}
		}
	}
}

// below adds what the folders below a directory have.
func (n *namesakes) below(ctx context.Context, p *SymbolPath, root string) error {
	t, err := p.trees.of(ctx, root, &p.opt.Limits)
	if err != nil {
		return err
	}
	for _, path := range t.files(n.name) {
		if !n.add(path, nil) {
			return nil
		}
	}
	n.trouble = cmp.Or(n.trouble, t.incomplete(root))
	return nil
}

// store adds name/*/name and name/*/msfz0/name, and the same below na/.
func (n *namesakes) store(ctx context.Context, root string) {
	for _, way := range [][]string{{n.name}, {tierOf(n.name), n.name}} {
		more := n.folders.walk(root, way, func(folder string, err error) bool {
			if err != nil {
				return n.add("", err)
			}
			return n.keys(ctx, folder)
		})
		if !more {
			return
		}
	}
}

func (n *namesakes) keys(ctx context.Context, folder string) (more bool) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotFolder(folder) {
		return n.add("", err)
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return false
		}
		if entry.Type().IsRegular() {
			continue
		}
		for _, way := range [][]string{{n.name}, {msfzName, n.name}} {
			for path, err := range n.folders.files(filepath.Join(folder, entry.Name()), way...) {
				if !n.add(path, err) {
					return false
				}
			}
		}
	}
	return true
}
