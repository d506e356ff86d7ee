package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/accounts"
	"heapdrift/internal/blob"
	"heapdrift/internal/memory"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/slots"
	"heapdrift/internal/symbols"
)

// The names of tasks and of what they ask.
const (
	taskInspect = "inspect"
	taskSort    = "sort symbols"

	askOpen = "open"
	askKeep = "keep"
)

// A symbolUpload is the input of taskSort.
type symbolUpload struct {
	Name     string `json:"name"`
	MaxBytes int64  `json:"max_bytes"` // that it may unpack to; 0 for no limit
}

// Sandboxed returns the tasks of intake that a child process can run, by name: the inspection of packed files and of
// symbols.
func Sandboxed() map[string]sandbox.Task {
	return map[string]sandbox.Task{taskInspect: inspectApart, taskSort: sortApart}
}

func inspectApart(ctx context.Context, parent *sandbox.Parent, input json.RawMessage) (any, error) {
	var name string
	if err := json.Unmarshal(input, &name); err != nil {
		return nil, fmt.Errorf("intake: task: %w", err)
	}
	content, err := uploaded(ctx, parent)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // read only
	return ingest.Inspect(ctx, ingest.Source{Name: name, ReaderAt: content, Size: content.Size()})
}

// uploaded is the file that a task is about.
func uploaded(ctx context.Context, parent *sandbox.Parent) (sandbox.Content, error) {
	f, err := parent.Ask(ctx, sandbox.Question{Name: askOpen})
	if err != nil {
		return nil, err
	}
	return sandbox.Opened(f)
}

func sortApart(ctx context.Context, parent *sandbox.Parent, input json.RawMessage) (any, error) {
	var upload symbolUpload
	if err := json.Unmarshal(input, &upload); err != nil {
		return nil, fmt.Errorf("intake: task: %w", err)
	}
	content, err := uploaded(ctx, parent)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // read only
	s := upload.sorting(content, func(ctx context.Context, id symbols.Identity, file *os.File) error {
		_, err := parent.Ask(ctx, sandbox.Question{Name: askKeep, Input: id, File: file})
		return err
	})
	err = s.sort(ctx)
	return s.found, err
}

func (u symbolUpload) sorting(content sandbox.Content,
	keep func(context.Context, symbols.Identity, *os.File) error) *sorting {
	return &sorting{name: u.Name, content: content, left: u.MaxBytes, limited: u.MaxBytes > 0, keep: keep}
}

// sortSymbols looks through an upload of symbols: in a process of its own where there are such.
func (in *Intake) sortSymbols(ctx context.Context, upload symbolUpload, content blob.Reader,
	keep func(context.Context, symbols.Identity, *os.File) error) (found sortResult, err error) {
	if in.Sandbox == nil {
		s := upload.sorting(content, keep)
		err = s.sort(ctx)
		return s.found, err
	}
	work := sandbox.Work{Task: taskSort, Input: upload, Outcome: &found}
	work.Answers = map[string]sandbox.Answer{
		askOpen: opens(content),
		askKeep: func(ctx context.Context, input json.RawMessage, file *os.File) (any, *sandbox.File, error) {
			var id symbols.Identity
			if err := json.Unmarshal(input, &id); err != nil {
				return nil, nil, fmt.Errorf("intake: answer: %w", err)
			}
			return nil, nil, keep(ctx, id, file)
		},
	}
	err = in.runSandboxed(ctx, work)
	return found, ended(err, upload.Name)
}

// inspectPacked says which format a file in an archive is of: in a process of its own.
func (in *Intake) inspectPacked(ctx context.Context, content blob.Reader, name string) (kind evidence.Kind, err error) {
	err = in.runSandboxed(ctx, sandbox.Work{Task: taskInspect, Input: name, Outcome: &kind,
		Answers: map[string]sandbox.Answer{askOpen: opens(content)}})
	return kind, ended(err, name)
}

// runSandboxed runs work in a process of its own, in a slot of the account that a context is about.
func (in *Intake) runSandboxed(ctx context.Context, work sandbox.Work) error {
	if in.Unpacking != nil {
		actor := accounts.ActorFrom(ctx)
		leave, err := in.Unpacking.Enter(ctx, slots.Holder{ProjectID: actor.ProjectID, Account: actor.Account()})
		if err != nil {
			return err
		}
		defer leave()
	}
	return in.Sandbox.Run(ctx, work)
}

// opens hands content over, which the function that opened it closes.
func opens(content blob.Reader) sandbox.Answer {
	return func(ctx context.Context, _ json.RawMessage, _ *os.File) (any, *sandbox.File, error) {
		if here, ok := content.(blob.LocalFile); ok {
			return nil, &sandbox.File{File: here.Descriptor(), Close: func() error { return nil }}, nil
		}
		f, err := blob.Local(ctx, openContent{content})
		if err != nil {
			return nil, nil, err
		}
		return nil, &sandbox.File{File: f.Descriptor(), Close: f.Close}, nil
	}
}

// openContent is content that Close leaves open.
type openContent struct{ blob.Reader }

func (openContent) Close() error { return nil }

// ended refuses a file whose process ended before the inspection did: intake takes no file that it could not inspect.
func ended(err error, name string) error {
	var e *sandbox.ProcessError
	if errors.As(err, &e) {
		return &evidence.Error{Code: e.Code, File: name, Message: e.Message, Do: "unpack it and send what is in it"}
	}
	var exceeded *memory.LimitError
	if errors.As(err, &exceeded) {
		return &evidence.Error{Code: memory.Code, File: name,
			Message: fmt.Sprintf("unpacking it takes more memory than the %s that the server allows for one file",
				exceeded.Limit), Do: "unpack it and send what is in it"}
	}
	return err
}
