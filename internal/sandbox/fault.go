package sandbox

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/memory"
)

// A fault is an error on its way between the processes. Errors of evidence, of memory and of the system keep their
// types.
type fault struct {
	Text     string   `json:"text"`
	Refused  *refusal `json:"refused,omitempty"`
	Exceeded int64    `json:"exceeded,omitempty"` // the limit of memory that was
	// Number is the error of the system that is behind it, on the same machine; Path is the file that met it.
	Number int    `json:"number,omitempty"`
	Path   string `json:"path,omitempty"`
}

// ofMachine are the errors of the system that no file causes. A child has limits of memory and of open files of its
// own: where it meets those, the file is at fault.
var ofMachine = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ESTALE, syscall.ENFILE,
}

// A systemError keeps the text of an error whose chain could not travel, and the system's error behind it.
type systemError struct {
	text   string
	system error
}

func (e *systemError) Error() string { return e.text }

func (e *systemError) Unwrap() error { return e.system }

// A refusal is an evidence.Error without the chain behind it.
type refusal struct {
	Code, File, Message, Do string
	Line                    int64
	Part                    string
	Offset                  int64
	Address                 uint64
	Cause                   string
	Internal                bool
}

func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{Text: err.Error()}
	var exceeded *memory.LimitError
	if errors.As(err, &exceeded) {
		f.Exceeded = int64(exceeded.Limit)
	}
	if number := syscall.Errno(0); errors.As(err, &number) && slices.Contains(ofMachine, number) {
		f.Number = int(number)
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			f.Path = failed.Path
		}
	}
	var e *evidence.Error
	if errors.As(err, &e) {
		f.Refused = &refusal{e.Code, e.File, e.Message, e.Do, e.Line, e.Part, e.Offset, e.Address, "", e.Internal}
		if e.Err != nil {
			f.Refused.Cause = e.Err.Error()
		}
	}
	return f
}

// err is the fault as an error of this process.
func (f *fault) err() error {
	switch {
	case f == nil:
		return nil
	case f.Exceeded != 0:
		return &memory.LimitError{Limit: memory.Size(f.Exceeded)}
	case f.Refused != nil:
		r := f.Refused
		e := &evidence.Error{Code: r.Code, File: r.File, Message: r.Message, Do: r.Do, Line: r.Line, Part: r.Part,
			Offset: r.Offset, Address: r.Address, Internal: r.Internal}
		if r.Cause != "" {
			e.Err = f.systemError(r.Cause)
		}
		return e
	}
	return f.systemError(f.Text)
}

// systemError is an error with the text, and the system's error behind it where there is one.
func (f *fault) systemError(text string) error {
	if f.Number == 0 {
		return errors.New(text)
	}
	system := error(syscall.Errno(f.Number))
	if f.Path != "" {
		system = &fs.PathError{Op: "use", Path: f.Path, Err: system}
	}
	return &systemError{text, system}
}
