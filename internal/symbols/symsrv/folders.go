package symsrv

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// A listing is believed while the folder's time of change stays; where that was young when the folder was read, a
	// second change may have left the same time.
	youngest = 2 * time.Second

	maxListed = 1 << 20 // names remembered over all folders; about 100 MB at worst
	readAtA   = 1024    // entries read from a folder at a time
)

// folders finds entries of folders without regard to case, as Windows does. Listings are remembered: a store's root has
// as many entries as there are modules, and all of them are searched for in it.
type folders struct {
	mu     sync.Mutex
	listed map[string]listing
	total  int
}

type listing struct {
	changed, read time.Time
	names         map[string][]string // by lower case
	count         int
}

// A view is the folders as one search sees them: it reads none twice that does not change.
type view struct {
	of    *folders
	since time.Time
}

// view begins a search.
func (f *folders) view() view { return view{f, time.Now()} }

// match yields the paths of the entries of a folder that go by the name: the one spelled the same first, then the
// others by name. An error, yielded last, says that the folder is there and cannot be read.
func (v view) match(folder, name string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		exact := filepath.Join(folder, name)
		if _, err := os.Stat(exact); err == nil && !yield(exact, nil) {
			return
		}
		names, err := v.list(folder)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !isNotFolder(folder) {
				yield("", err)
			}
			return
		}
		for _, other := range names[strings.ToLower(name)] {
			if other != name && !yield(filepath.Join(folder, other), nil) {
				return
			}
		}
	}
}

func isNotFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// files yields the regular files below a folder that lie at the given way from it, without regard to case.
func (v view) files(folder string, way ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		v.walk(folder, way, func(path string, err error) bool {
			if err != nil {
				return yield(path, err)
			}
			// Anything but a file might not end, or might wait for ever: a pipe, a device.
			if info, statErr := os.Stat(path); statErr == nil && info.Mode().IsRegular() {
				return yield(path, nil)
			}
			return true
		})
	}
}

// walk calls visit for everything at the way from a folder until that returns false, which it passes on.
func (v view) walk(folder string, way []string, visit func(string, error) bool) bool {
	for path, err := range v.match(folder, way[0]) {
		if err != nil || len(way) == 1 {
			if !visit(path, err) {
				return false
			}
		} else if !v.walk(path, way[1:], visit) {
			return false
		}
	}
	return true
}

// resolve returns the path at the way from a folder, with the spelling of what exists and that of the way beyond it.
func (v view) resolve(folder string, way ...string) string {
	for _, name := range way {
		next := filepath.Join(folder, name)
		for found, err := range v.match(folder, name) {
			if err == nil {
				next = found
			}
			break
		}
		folder = next
	}
	return folder
}

// list returns the entries of a folder by their lower-case names.
func (v view) list(folder string) (map[string][]string, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	f := v.of
	f.mu.Lock()
	known, ok := f.listed[folder]
	f.mu.Unlock()
	settled := known.read.Sub(known.changed) > youngest
	if ok && known.changed.Equal(info.ModTime()) && (settled || !known.read.Before(v.since)) {
		return known.names, nil
	}
	fresh := listing{changed: info.ModTime(), read: time.Now()}
	if fresh.names, fresh.count, err = readFolder(folder); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.total += fresh.count - f.listed[folder].count; f.total > maxListed || f.listed == nil {
		f.listed, f.total = make(map[string]listing), fresh.count
	}
	f.listed[folder] = fresh
	return fresh.names, nil
}

func readFolder(folder string) (map[string][]string, int, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, 0, err
	}
	defer dir.Close()
	names, count := make(map[string][]string), 0
	for {
		entries, err := dir.Readdirnames(readAtA)
		for _, name := range entries {
			lower := strings.ToLower(name)
			names[lower] = append(names[lower], name)
		}
		count += len(entries)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	for _, same := range names {
		slices.Sort(same)
	}
	return names, count, nil
}
