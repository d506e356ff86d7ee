package task

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
)

// A remote is the Host of a task in a process of its own: it asks the parent.
type remote struct {
	parent *sandbox.Parent

	mu      sync.Mutex
	percent int
	stage   string
}

// Open implements Host.
func (r *remote) Open(ctx context.Context, file int) (symbols.Content, error) {
	return r.open(ctx, askOpen, file)
}

// open asks for a file; nil where the parent has none.
func (r *remote) open(ctx context.Context, question string, input any) (symbols.Content, error) {
	f, err := r.parent.Ask(ctx, sandbox.Question{Name: question, Input: input})
	if f == nil || err != nil {
		return nil, err
	}
	return sandbox.Opened(f)
}

// Library implements Host.
func (r *remote) Library() symbols.Library { return r }

// Indexes implements Host.
func (r *remote) Indexes() symbols.IndexCache { return remoteIndexes{r} }

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

func (r *remote) search(ctx context.Context, question string, input any) ([]*symbols.File, []capture.Attempt, error) {
	var answer findings
	if _, err := r.parent.Ask(ctx, sandbox.Question{Name: question, Input: input, Output: &answer}); err != nil {
		return nil, nil, err
	}
	files := make([]*symbols.File, len(answer.Files))
	for i, f := range answer.Files {
		files[i] = &symbols.File{Identity: f.Identity, Place: f.Place, Own: f.Own, Group: f.Group, Build: f.Build,
			Open: func(ctx context.Context) (symbols.Content, error) {
				return r.open(ctx, askSymbols, f.Number)
			}}
	}
	return files, answer.Tried, nil
}

// Find implements symbols.Library.
func (r *remote) Find(ctx context.Context, want symbols.Want) (*symbols.File, []capture.Attempt, error) {
	files, tried, err := r.search(ctx, askFind, want)
	if len(files) == 0 {
		return nil, tried, err
	}
	return files[0], tried, err
}

// Named implements symbols.Library.
func (r *remote) Named(ctx context.Context, names []string) ([]*symbols.File, []capture.Attempt, error) {
	return r.search(ctx, askNamed, names)
}

// give writes a file and hands it over.
func (r *remote) give(ctx context.Context, question string, input any, write func(io.Writer) error) error {
	f, err := sandbox.Temporary()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the parent has it
	if err := written(f, write); err != nil {
		return err
	}
	_, err = r.parent.Ask(ctx, sandbox.Question{Name: question, Input: input, File: f})
	return err
}

func written(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(w), w.Flush())
}

// Capture implements Host.
func (r *remote) Capture(ctx context.Context, _ *capture.Capture, write func(io.Writer) error) error {
	return r.give(ctx, askCapture, nil, write)
}

// Table implements Host.
func (r *remote) Table(ctx context.Context, sites int, write func(io.Writer) error) error {
	return r.give(ctx, askTable, sites, write)
}

// Names implements Host.
func (r *remote) Names(ctx context.Context, write func(io.Writer) error) error {
	return r.give(ctx, askNames, nil, write)
}

// Progress implements Host; only what is new is sent.
func (r *remote) Progress(percent int, stage string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if percent != r.percent || stage != r.stage {
		r.percent, r.stage = percent, stage
		r.parent.Progress(percent, stage)
	}
}

// remoteIndexes are the indexes that the parent keeps.
type remoteIndexes struct{ *remote }

// Open implements symbols.IndexCache.
func (r remoteIndexes) Open(ctx context.Context, key string) (symbols.Content, error) {
	return r.open(ctx, askIndex, key)
}

// Put implements symbols.IndexCache.
func (r remoteIndexes) Put(ctx context.Context, key string, write func(io.Writer) error) error {
	return r.give(ctx, askPutIndex, key, write)
}
