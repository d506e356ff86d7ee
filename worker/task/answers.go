package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/internal/blob"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
)

// A desk answers what a task in a process of its own asks, out of a Host.
type desk struct {
	host Host

	mu    sync.Mutex
	files []*symbols.File // that searches have found, by what the process calls them
}

func answers(h Host) map[string]sandbox.Answer {
	d := &desk{host: h}
	return map[string]sandbox.Answer{
		askOpen: asked(func(ctx context.Context, file int) (any, *sandbox.File,
			error) {
			return opened(ctx, h.Open, file)
		}),
		askFind:  asked(d.find),
		askNamed: asked(d.named),
		askSymbols: asked(func(ctx context.Context, number int) (any, *sandbox.File,
			error) {
			return opened(ctx, d.open, number)
		}),
		askIndex:    asked(d.index),
		askPutIndex: given(d.putIndex),
		askCapture: given(func(ctx context.Context, _ any, artifact io.Reader, write func(io.Writer) error) error {
			c, err := capture.Read(artifact)
			if err != nil {
				return fmt.Errorf("task: capture: %w", err)
			}
			return h.Capture(ctx, c, write)
		}),
		askTable: given(func(ctx context.Context, sites int, _ io.Reader, write func(io.Writer) error) error {
			return h.Table(ctx, sites, write)
		}),
		askNames: given(func(ctx context.Context, _ any, _ io.Reader, write func(io.Writer) error) error {
			return h.Names(ctx, write)
		}),
	}
}

// asked is the answer to a question that brings no file.
func asked[In any](answer func(context.Context, In) (any, *sandbox.File, error)) sandbox.Answer {
	return func(ctx context.Context, input json.RawMessage, _ *os.File) (any, *sandbox.File, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, nil, fmt.Errorf("task: question: %w", err)
		}
		return answer(ctx, in)
	}
}

// given keeps a file that comes with a question.
func given[In any](keep func(ctx context.Context, in In, content io.Reader,
	write func(io.Writer) error) error) sandbox.Answer {
	return func(ctx context.Context, input json.RawMessage, file *os.File) (any, *sandbox.File, error) {
		var in In
		if len(input) > 0 {
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, nil, fmt.Errorf("task: question: %w", err)
			}
		}
		if file == nil {
			return nil, nil, errors.New("task: a file is missing")
		}
		info, err := file.Stat()
		if err != nil {
			return nil, nil, fmt.Errorf("task: %w", err)
		}
		content := func() io.Reader { return io.NewSectionReader(file, 0, info.Size()) }
		return nil, nil, keep(ctx, in, content(), func(out io.Writer) error {
			_, err := io.Copy(out, content())
			return err //nolint:wrapcheck // the writer's or the file's own
		})
	}
}

// opened hands over what open opens.
func opened(ctx context.Context, open func(context.Context, int) (symbols.Content, error),
	number int) (any, *sandbox.File, error) {
	content, err := open(ctx, number)
	if err != nil {
		return nil, nil, err
	}
	f, err := handed(ctx, content)
	return nil, f, err
}

// handed is content as a file for another process; what lies elsewhere is copied to this machine first. It takes
// content over.
func handed(ctx context.Context, content symbols.Content) (*sandbox.File, error) {
	f, err := blob.Local(ctx, content)
	if err != nil {
		return nil, err
	}
	return &sandbox.File{File: f.Descriptor(), Close: f.Close}, nil
}

func (d *desk) find(ctx context.Context, want symbols.Want) (any, *sandbox.File, error) {
	f, tried, err := d.host.Library().Find(ctx, want)
	if f == nil {
		return findings{Tried: tried}, nil, err
	}
	return d.found([]*symbols.File{f}, tried), nil, err
}

func (d *desk) named(ctx context.Context, names []string) (any, *sandbox.File, error) {
	files, tried, err := d.host.Library().Named(ctx, names)
	return d.found(files, tried), nil, err
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

func (d *desk) index(ctx context.Context, key string) (any, *sandbox.File, error) {
	indexes := d.host.Indexes()
	if indexes == nil {
		return nil, nil, nil
	}
	content, err := indexes.Open(ctx, key)
	if content == nil || err != nil {
		return nil, nil, err
	}
	f, err := handed(ctx, content)
	return nil, f, err
}

func (d *desk) putIndex(ctx context.Context, key string, _ io.Reader, write func(io.Writer) error) error {
	if indexes := d.host.Indexes(); indexes != nil {
		return indexes.Put(ctx, key, write)
	}
	return nil
}
