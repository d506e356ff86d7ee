package vmmap

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-vmmap-data" // no region of VMMap was found
	CodeReadFailed = "read-failed"   // the reader that was passed in failed; the cause is wrapped
)

// An Error says why a file could not be read to its end. Line counts from 1 and says how far reading had come.
type Error struct {
	Code    string
	Line    int64
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := "vmmap: " + e.Message
	if e.Line > 0 {
		s += fmt.Sprintf(" (line %d)", e.Line)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
