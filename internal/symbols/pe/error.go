package pe

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNotPE      = "not-pe"      // no image: other contents, or a 16-bit program
	CodeTruncated  = "truncated"   // the file ends before what its headers describe
	CodeBadHeader  = "bad-header"  // headers that no loader accepts
	CodeBadDebug   = "bad-debug"   // debug directory or CodeView record
	CodeBadExports = "bad-exports" // export directory
	CodeBadUnwind  = "bad-unwind"  // .pdata or unwind data
	CodeReadFailed = "read-failed" // the reader that was passed in failed; the cause is wrapped
)

// An Error says what is wrong with an image, and at which offset of the file.
type Error struct {
	Code    string
	Offset  int64 // in bytes of the file
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("pe: %s (offset %#x)", e.Message, e.Offset)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func fail(code string, offset int64, format string, args ...any) *Error {
	return &Error{Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
