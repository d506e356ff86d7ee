package symsrv

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// store searches a store on this machine: per folder of the key the file itself, an MSFZ container, a compressed file
// and a pointer.
func (s *search) store(ctx context.Context, root string, from origin) (LocalFile, bool) {
	place := s.place(root)
	if !s.exists(root, place) {
		return LocalFile{}, false
	}
	noted := len(s.attempts)
	for _, way := range s.keyFolders(root) {
		if found, ok := s.keyFolder(ctx, root, way, from); ok || ctx.Err() != nil {
			return found, ok
		}
	}
	if len(s.attempts) == noted {
		s.note(place, ResultNotFound, "")
	}
	return LocalFile{}, false
}

// keyFolders returns the ways from a store's root to the folder of the key. The layout that index2.txt announces comes
// first; the other is tried too, because stores have been rearranged and copied without it.
func (s *search) keyFolders(root string) [][]string {
	flat := []string{s.want.Name, s.want.Key()}
	tiered := append([]string{tierOf(s.want.Name)}, flat...)
	if s.twoTier(root) {
		return [][]string{tiered, flat}
	}
	return [][]string{flat, tiered}
}

func (s *search) keyFolder(ctx context.Context, root string, way []string, from origin) (LocalFile, bool) {
	name := s.want.Name
	for _, file := range [][]string{{name}, {msfzName, name}, {CompressedName(name)}, {pointerName}} {
		for path, err := range s.folders.files(root, append(way[:len(way):len(way)], file...)...) {
			if ctx.Err() != nil {
				return LocalFile{}, false
			}
			var found LocalFile
			var ok bool
			switch {
			case err != nil:
				s.note(s.place(root), ResultFailed, err.Error())
				return LocalFile{}, false
			case file[0] == pointerName:
				found, ok = s.follow(ctx, path, path, false, from)
			default:
				found, ok = s.accept(ctx, candidate{place: path, path: path}, from)
			}
			if ok {
				return found, true
			}
		}
	}
	return LocalFile{}, false
}

// exists tells whether a root is there, and notes at place that it is not. A downstream store is made when it is
// needed; any other that is missing is a mistake in the path, or a share that is not mounted.
func (s *search) exists(root, place string) bool {
	_, err := os.Stat(root)
	switch {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrNotExist):
		s.note(place, ResultNotFound, "there is no directory "+root)
	default:
		s.note(place, ResultFailed, err.Error())
	}
	return false
}
