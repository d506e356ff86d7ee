package symsrv

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// imageExtensions are the folders <ext> of a plain directory. For a PDB it is its image's extension that counts,
// which a PDB does not know; so all of them are tried, and the PDB's own.
var imageExtensions = []string{"dll", "exe", "sys", "ocx", "cpl", "drv", "scr", "ax", "node", "pyd"}

// subfolders returns the ways from a plain directory to the folders that may hold the file.
func subfolders(name string) [][]string {
	own := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	extensions := []string{own}
	if own == "pdb" {
		extensions = append(slices.Clone(imageExtensions), own)
	}
	ways := [][]string{nil}
	for _, ext := range extensions {
		if ext != "" {
			ways = append(ways, []string{ext}, []string{"symbols", ext})
		}
	}
	return ways
}

// below searches the folders below a plain directory for a file that has not been tried yet. It says what it searched.
func (s *search) below(ctx context.Context, root string, from origin) (found LocalFile, searched string, ok bool) {
	t, err := s.path.trees.of(ctx, root, &s.path.opt.Limits)
	if err != nil {
		return LocalFile{}, "", false
	}
	for _, path := range t.files(s.want.Name, CompressedName(s.want.Name)) {
		tried := slices.ContainsFunc(s.attempts, func(a Attempt) bool { return a.Place == path })
		if tried || ctx.Err() != nil {
			continue
		}
		if found, ok := s.accept(ctx, candidate{place: path, path: path, loose: true}, from); ok {
			return found, "", true
		}
	}
	if t.trouble != nil {
		s.note(root, ResultFailed, t.trouble.Error())
	}
	return LocalFile{}, t.searched(), false
}

// directory searches a plain directory: files that have the name, then the directory taken as a store. Dbghelp takes
// the file that comes first; here it must be the right one, if that can be checked.
func (s *search) directory(ctx context.Context, root string, stores []string) (LocalFile, bool) {
	if !s.exists(root, filepath.Join(root, s.want.Name)) {
		return LocalFile{}, false
	}
	from := origin{stores: stores}
	noted := len(s.attempts)
	for _, way := range subfolders(s.want.Name) {
		for _, name := range []string{s.want.Name, CompressedName(s.want.Name)} {
			for path, err := range s.folders.files(root, append(way[:len(way):len(way)], name)...) {
				if ctx.Err() != nil {
					return LocalFile{}, false
				}
				if err != nil {
					s.note(root, ResultFailed, err.Error())
					return LocalFile{}, false
				}
				if found, ok := s.accept(ctx, candidate{place: path, path: path, loose: true}, from); ok {
					return found, true
				}
			}
		}
	}
	detail := "nor below dll, symbols/dll and the like"
	if s.path.opt.Below {
		found, below, ok := s.below(ctx, root, from)
		if ok || ctx.Err() != nil {
			return found, ok
		}
		detail = below
	}
	if len(s.attempts) == noted {
		s.note(filepath.Join(root, s.want.Name), ResultNotFound, detail)
	}
	if s.searched[root] {
		return LocalFile{}, false
	}
	s.searched[root] = true
	return s.store(ctx, root, from)
}
