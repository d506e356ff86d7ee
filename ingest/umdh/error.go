package umdh

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-umdh-data" // nothing that UMDH writes was found
	CodeReadFailed = "read-failed"  // the reader that was passed in failed; the cause is wrapped
	CodeBadBase    = "unknown-base" // ParseBase was given something else
)

// An Error says why a log could not be read to its end. Line counts from 1, Offset is in bytes of the file as it
// is stored; both say how far reading had come. Both are 0 where no file is concerned.
type Error struct {
	Code    string
	Line    int64
	Offset  int64
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := "umdh: " + e.Message
	if e.Line > 0 {
		s += fmt.Sprintf(" (line %d, offset %#x)", e.Line, e.Offset)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
