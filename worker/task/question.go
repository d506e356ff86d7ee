package task

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"heapdrift/internal/blob"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
	"heapdrift/internal/tempfile"
)

// A parent is the process that a child asks.
type parent interface {
	Ask(ctx context.Context, q sandbox.Question) (*os.File, error)
	Progress(percent int, stage string)
}

// Whether the answer to a question must bring a file.
const (
	required = false
	optional = true
)

// An opening is a question that a file answers.
type opening[In any] struct {
	name     string
	optional bool
}

// opens adds such a question to the table.
func opens[In any](name string, tasks []string, isOptional bool,
	open func(context.Context, *desk, In) (symbols.Content, error)) opening[In] {
	rows[name] = row{tasks, func(d *desk) sandbox.Answer {
		return asked(name, func(ctx context.Context, in In) (any, *sandbox.File, error) {
			content, err := open(ctx, d, in)
			if err != nil || content == nil {
				return nil, nil, err
			}
			f, err := handed(ctx, content)
			return nil, f, err
		})
	}}
	return opening[In]{name, isOptional}
}

// ask asks for a file; nil where the question is optional and the parent has none.
func (q opening[In]) ask(ctx context.Context, p parent, in In) (symbols.Content, error) {
	f, err := p.Ask(ctx, sandbox.Question{Name: q.name, Input: in})
	switch {
	case err != nil:
		return nil, err
	case f != nil:
		return sandbox.Opened(f)
	case q.optional:
		return nil, nil
	}
	return nil, fmt.Errorf("task: the answer to %q has no file", q.name)
}

// A telling is a question that data answers.
type telling[In, Out any] struct{ name string }

// tells adds such a question to the table.
func tells[In, Out any](name string, tasks []string,
	tell func(context.Context, *desk, In) (Out, error)) telling[In, Out] {
	rows[name] = row{tasks, func(d *desk) sandbox.Answer {
		return asked(name, func(ctx context.Context, in In) (any, *sandbox.File, error) {
			out, err := tell(ctx, d, in)
			return out, nil, err
		})
	}}
	return telling[In, Out]{name}
}

// ask asks for data.
func (q telling[In, Out]) ask(ctx context.Context, p parent, in In) (out Out, err error) {
	f, err := p.Ask(ctx, sandbox.Question{Name: q.name, Input: in, Output: &out})
	if f != nil {
		err = errors.Join(err, fmt.Errorf("task: the answer to %q has a file", q.name), f.Close())
	}
	return out, err
}

// A taking is a question that brings a file for the parent to keep.
type taking[In any] struct{ name string }

// takes adds such a question to the table.
func takes[In any](name string, tasks []string,
	take func(context.Context, *desk, In, artifact) error) taking[In] {
	rows[name] = row{tasks, func(d *desk) sandbox.Answer {
		return func(ctx context.Context, input json.RawMessage, file *os.File) (any, *sandbox.File, error) {
			var in In
			if err := decode(name, input, &in); err != nil {
				return nil, nil, err
			}
			if file == nil {
				return nil, nil, fmt.Errorf("task: question %q: the file is missing", name)
			}
			info, err := file.Stat()
			if err != nil {
				return nil, nil, fmt.Errorf("task: question %q: %w", name, err)
			}
			return nil, nil, take(ctx, d, in, artifact{file, info.Size()})
		}
	}}
	return taking[In]{name}
}

// hand writes a file and hands it over.
func (q taking[In]) hand(ctx context.Context, p parent, in In, write func(io.Writer) error) error {
	f, err := tempfile.New("heapdrift-task-")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the parent has it
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return err
	}
	back, err := p.Ask(ctx, sandbox.Question{Name: q.name, Input: in, File: f})
	if back != nil {
		err = errors.Join(err, fmt.Errorf("task: the answer to %q has a file", q.name), back.Close())
	}
	return err
}

// asked is the answer to a question that brings no file.
func asked[In any](name string, answer func(context.Context, In) (any, *sandbox.File, error)) sandbox.Answer {
	return func(ctx context.Context, input json.RawMessage, file *os.File) (any, *sandbox.File, error) {
		var in In
		if err := decode(name, input, &in); err != nil {
			return nil, nil, err
		}
		if file != nil {
			return nil, nil, fmt.Errorf("task: question %q brings a file", name)
		}
		return answer(ctx, in)
	}
}

// decode takes exactly the request that the question has.
func decode(name string, input json.RawMessage, in any) error {
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return fmt.Errorf("task: question %q: %w", name, err)
	}
	return nil
}

// An artifact is a file that a child hands over.
type artifact struct {
	file *os.File
	size int64 // bytes
}

func (a artifact) reader() io.Reader { return io.NewSectionReader(a.file, 0, a.size) }

func (a artifact) write(out io.Writer) error {
	_, err := io.Copy(out, a.reader())
	return err //nolint:wrapcheck // the writer's or the file's own
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
