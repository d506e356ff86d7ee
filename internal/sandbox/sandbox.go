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
	// The stable codes of ProcessErrors.
	CodeCrashed   = "reader-crashed"   // it panicked, or something killed it
	CodeExpensive = "reader-expensive" // it took more processor time than its files justify
	CodeStuck     = "reader-stuck"     // it did nothing for a long time
)

// ErrUnsupported is the error of Run on systems that cannot run child processes.
var ErrUnsupported = errors.New("sandbox: work in a process of its own needs Linux")

// A ProcessError says that a child process ended before its task did.
type ProcessError struct {
	Code    string
	Message string
	// Again says that another try may succeed.
	Again bool
	// Said is what the process said last, for operators: the stack of a panic, for example.
	Said string
}

func (e *ProcessError) Error() string { return e.Message }

// A Task is work that a child process can do, known by a name. Its outcome goes to the parent, as JSON.
type Task func(ctx context.Context, parent *Parent, input json.RawMessage) (outcome any, err error)

// A Question is what a task asks its parent. All but Name may be nil.
type Question struct {
	Name   string
	Input  any      // sent with it, as JSON
	File   *os.File // handed over with it; the caller still closes its own
	Output any      // pointer that the answer is decoded into, as by json.Unmarshal
}

// A File is an open file that is handed to the other process. Close is called here then.
type File struct {
	File *os.File
	// Close closes it; nil closes File.
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

// An Answer answers a question of a child. file came with the question, or is nil; it is closed after the answer.
// output goes back as JSON, give as an open file.
type Answer func(ctx context.Context, input json.RawMessage, file *os.File) (output any, give *File, err error)

// Work is a task for a child process.
type Work struct {
	Task    string            // its name
	Does    string            // what errors say of the process: "read the files"; "" for "did the work"
	Input   any               // encoded as JSON
	Answers map[string]Answer // by the name of the question; several may be called at the same time
	// Progress gets how far the child is; may be nil.
	Progress func(percent int, stage string)
	// Outcome is a pointer that the task's outcome is decoded into, as by json.Unmarshal; may be nil.
	Outcome any
}

// A Runner runs work in child processes. Its zero value is ready for use.
type Runner struct {
	// ChildMemory is how much one child may use; 0 is a part of the budget of the work that the context belongs to.
	ChildMemory memory.Size
	// BudgetParts is how many children share that budget; 0 is one.
	BudgetParts int
	// TaskTime is the processor time that every task may take, TimePerMegabyte what each MiB of the files handed to it
	// adds. 0 is DefaultTime and DefaultPerMegabyte.
	TaskTime, TimePerMegabyte time.Duration
	// MaxStill is how long a child may neither compute nor wait for an answer; 0 is DefaultStill.
	MaxStill time.Duration
	Log      *slog.Logger // nil for none
}

// The defaults of a Runner.
const (
	DefaultTime        = 5 * time.Second
	DefaultPerMegabyte = 20 * time.Second
	DefaultStill       = time.Minute
)

// Content is an open file that a child reads, with its size. Readers of blobs and symbol files are.
type Content interface {
	io.ReaderAt
	io.Closer
	// Size is the length of the file in bytes.
	Size() int64
}

// Opened makes Content of an open file. Closing it closes f.
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
