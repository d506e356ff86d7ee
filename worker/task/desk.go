package task

import (
	"context"
	"fmt"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols"
)

// A desk answers what a task in a child process asks, out of a Host.
type desk struct {
	host Host

	mu    sync.Mutex
	files []*symbols.File // that searches have found, by what the process calls them
}

// A foundFile is a symbol file as the parent tells of it.
type foundFile struct {
	symbols.Identity
	Place, Group string
	Build        string
	Own          bool
	Number       int // what the parent opens it by
}

// A findings is an answer to a search.
type findings struct {
	Files []foundFile
	Tried []capture.Attempt
}

func (d *desk) find(ctx context.Context, want symbols.Want) (findings, error) {
	f, tried, err := d.host.Library().Find(ctx, want)
	if f == nil {
		return findings{Tried: tried}, err
	}
	return d.found([]*symbols.File{f}, tried), err
}

func (d *desk) named(ctx context.Context, names []string) (findings, error) {
	files, tried, err := d.host.Library().FindByName(ctx, names)
	return d.found(files, tried), err
}

func (d *desk) found(files []*symbols.File, tried []capture.Attempt) findings {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := findings{Tried: tried}
	for _, f := range files {
		answer.Files = append(answer.Files, foundFile{f.Identity, f.Place, f.Group, f.Build, f.Own, len(d.files)})
		d.files = append(d.files, f)
	}
	return answer
}

// open opens a file that a search has found.
func (d *desk) open(ctx context.Context, number int) (symbols.Content, error) {
	d.mu.Lock()
	if number < 0 || number >= len(d.files) {
		d.mu.Unlock()
		return nil, fmt.Errorf("task: there is no symbol file %d", number)
	}
	f := d.files[number]
	d.mu.Unlock()
	return f.Open(ctx)
}

func (d *desk) index(ctx context.Context, key string) (symbols.Content, error) {
	indexes := d.host.Indexes()
	if indexes == nil {
		return nil, nil
	}
	return indexes.Open(ctx, key)
}

func (d *desk) putIndex(ctx context.Context, key string, a artifact) error {
	if indexes := d.host.Indexes(); indexes != nil {
		return indexes.Put(ctx, key, a.write)
	}
	return nil
}
