package debugdiag

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-debugdiag-data" // nothing that DebugDiag reports was found
	CodeNoPage     = "no-page"           // a MIME document without a part that is text/html
	CodeReadFailed = "read-failed"       // the reader that was passed in failed; the cause is wrapped
)

// An Error says why a report could not be read. Offset is how many bytes of the file as it is stored had been taken by then.
type Error struct {
	Code    string
	Offset  int64
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("debugdiag: %s (offset %#x)", e.Message, e.Offset)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
