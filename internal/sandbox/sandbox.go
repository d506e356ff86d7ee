// Package sandbox does work in a child process: this program once more, without the network, without the environment of
// its parent, and with limits of processor time and memory. In comes a Task and its input; out go its answers and
// files, or a *ProcessError. A panic or a decompression bomb in the child fails that task alone.
//
// The two processes talk over a pair of sockets. The parent sends a task; the child asks for what it needs and hands
// over what it makes, mostly as open files; its last message says how the task ended.
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"heapdrift/internal/memory"
)

// The stable codes of work that did not end by itself.
const (
	CodeCrashed   = "reader-crashed"   // it panicked, or something killed it
	CodeExpensive = "reader-expensive" // it took more processor time than its files justify
	CodeStuck     = "reader-stuck"     // it did nothing for a long time
)

// ErrUnsupported says that this system has no way to run child processes.
var ErrUnsupported = errors.New("sandbox: work in a process of its own needs Linux")

// A ProcessError is the error of a process that ended before its task did.
type ProcessError struct {
	Code    string
	Message string
	// Again says that another try may end differently.
	Again bool
}

func (e *ProcessError) Error() string { return e.Message }

// A Task is work that a child knows by name. It returns what the parent gets as the outcome.
type Task func(ctx context.Context, parent *Parent, input json.RawMessage) (outcome any, err error)

// A Question is what a task asks its parent. All but the name may be nil.
type Question struct {
	Name   string
	Input  any      // what goes with it, as JSON
	File   *os.File // is handed over, and stays the caller's to close
	Output any      // where the answer goes, as for json.Unmarshal
}

// A File is an open file that is handed to the other process, and closed here then.
type File struct {
	File *os.File
	// Close closes it; File itself is closed where that is nil.
	Close func() error
}

func (f *File) close() error {
	switch {
	case f == nil:
		return nil
	case f.Close != nil:
		return f.Close()
	}
	return f.File.Close()
}

// An Answer answers a question of a child. file came with the question, or is nil; it is closed behind the answer.
type Answer func(ctx context.Context, input json.RawMessage, file *os.File) (output any, give *File, err error)

// Work is a task for a process of its own.
type Work struct {
	Task    string
	Input   any
	Answers map[string]Answer // by the names of questions; called at the same time where the child asks so
	// Progress hears how far the child is; may be nil.
	Progress func(percent int, stage string)
	// Outcome is where the outcome of the task goes, as for json.Unmarshal; may be nil.
	Outcome any
}

// A Runner runs work in processes of their own. Its zero value is ready for use.
type Runner struct {
	// Memory is what one process may take; 0 is a part of the budget of the work that the context is of.
	Memory memory.Size
	// Parts is how many processes share that budget; 0 is one.
	Parts int
	// Time is the processor time that every task may take, PerMegabyte what each MiB that it is handed adds; 0 is
	// DefaultTime and DefaultPerMegabyte.
	Time, PerMegabyte time.Duration
	// Still is how long a process may neither compute nor wait for an answer; 0 is DefaultStill.
	Still time.Duration
	Log   *slog.Logger // nil for none
}

// Defaults of a Runner.
const (
	DefaultTime        = 5 * time.Second
	DefaultPerMegabyte = 20 * time.Second
	DefaultStill       = time.Minute
)

// Content is what a child reads: an open file with its size. It is what readers of blobs and symbols are.
type Content interface {
	io.ReaderAt
	io.Closer
	// Size is the length of the file in bytes.
	Size() int64
}

// Opened is a file as Content.
func Opened(f *os.File) (Content, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return openFile{f, info.Size()}, nil
}

type openFile struct {
	*os.File
	size int64
}

// Size implements Content.
func (o openFile) Size() int64 { return o.size }
