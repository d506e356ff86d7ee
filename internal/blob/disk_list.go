package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
)

func (d *disk) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		shared := path.Dir(prefix + "x") // the directory that all of these keys share
		if _, err := d.walk(ctx, shared, prefix, yield); err != nil {
			yield(Info{}, fmt.Errorf("blob: list %q: %w", prefix, err))
		}
	}
}

// walk yields the blobs below a directory; it reports whether the caller wants more.
func (d *disk) walk(ctx context.Context, dir, prefix string, yield func(Info, error) bool) (bool, error) {
	entries, err := d.readDir(dir)
	if err != nil {
		if errors.Is(missing(err), ErrNotFound) { // deleted meanwhile, or never there
			return true, nil
		}
		return false, err
	}
	// A directory sorts by the keys in it: "a-b" comes before "a/b".
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortKey(a), sortKey(b)) })
	for _, entry := range entries {
		if ctx.Err() != nil {
			return false, context.Cause(ctx) //nolint:wrapcheck // the caller's own
		}
		if checkElement(entry.Name()) != "" {
			continue // not ours
		}
		key := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir():
			if !strings.HasPrefix(key+"/", prefix) && !strings.HasPrefix(prefix, key+"/") {
				continue
			}
			if more, err := d.walk(ctx, key, prefix, yield); err != nil || !more {
				return false, err
			}
		case entry.Type().IsRegular() && strings.HasPrefix(key, prefix):
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted meanwhile
			}
			if err != nil {
				return false, err //nolint:wrapcheck // says where
			}
			if !yield(Info{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

func sortKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func (d *disk) readDir(dir string) ([]fs.DirEntry, error) {
	f, err := d.root.Open(dir)
	if err != nil {
		return nil, err //nolint:wrapcheck // says where
	}
	defer func() { _ = f.Close() }()
	return f.ReadDir(-1) //nolint:wrapcheck // says where
}
