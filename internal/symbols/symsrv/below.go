package symsrv

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// trees remembers what lies below the plain directories of a path: each is read once, because a command that names a
// folder reads it while nobody builds into it.
type trees struct {
	mu    sync.Mutex
	known map[string]*tree
}

// A tree is what lies below a directory, as far as it was read.
type tree struct {
	names   map[string][]string // paths of all entries that are not folders, by lower-case name, nearest first
	folders int                 // that were read, without the directory itself
	left    []string            // what was left out, in words
	trouble error               // the first folder that could not be read
}

// treeQueue is a folder that is still to be read; depth is 0 for the directory itself.
type treeQueue struct {
	path  string
	depth int
}

// of reads a directory and its folders, those nearest to it first, until a limit is reached.
func (t *trees) of(ctx context.Context, root string, limits *Limits) (*tree, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.known[root]; known != nil {
		return known, nil
	}
	out := &tree{names: make(map[string][]string)}
	deep, links, entries := "", "", 0
	queue := []treeQueue{{root, 0}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if entries >= limits.BelowEntries {
			out.left = append(out.left, fmt.Sprintf("%s and %d more folders, after %d entries", at.path, len(queue), entries))
			break
		}
		list, err := os.ReadDir(at.path)
		if err != nil && out.trouble == nil {
			out.trouble = err
		}
		if at.depth > 0 {
			out.folders++
		}
		entries += len(list)
		for _, entry := range list {
			path := filepath.Join(at.path, entry.Name())
			switch {
			case !entry.IsDir():
				if links == "" && isFolderLink(entry, path) {
					links = path
				}
				name := strings.ToLower(entry.Name())
				out.names[name] = append(out.names[name], path)
			case at.depth < limits.BelowDepth:
				queue = append(queue, treeQueue{path, at.depth + 1})
			case deep == "":
				deep = path
			}
		}
	}
	if deep != "" {
		out.left = append(out.left, fmt.Sprintf("folders more than %d levels down, such as %s", limits.BelowDepth, deep))
	}
	if links != "" {
		out.left = append(out.left, "linked folders, such as "+links)
	}
	if t.known == nil {
		t.known = make(map[string]*tree)
	}
	t.known[root] = out
	return out, nil
}

// isFolderLink reports whether an entry leads to a folder elsewhere. Such folders are not followed: they may lead back.
func isFolderLink(entry fs.DirEntry, path string) bool {
	if entry.Type()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// files are the regular files that go by one of the names, without regard to case.
func (t *tree) files(names ...string) []string {
	var list []string
	for _, name := range names {
		for _, path := range t.names[strings.ToLower(name)] {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				list = append(list, path)
			}
		}
	}
	return list
}

// searched says how much was read, and what was left out.
func (t *tree) searched() string {
	text := fmt.Sprintf("nor in the %d folders below", t.folders)
	if t.folders == 1 {
		text = "nor in the folder below"
	}
	if len(t.left) > 0 {
		text += "; not searched: " + strings.Join(t.left, "; ")
	}
	return text
}

// incomplete says what was not read, as an error; nil where all was.
func (t *tree) incomplete(root string) error {
	switch {
	case t.trouble != nil:
		return t.trouble
	case len(t.left) > 0:
		return fmt.Errorf("below %s: not searched: %s", root, strings.Join(t.left, "; "))
	}
	return nil
}
