package cab

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNotCabinet    = "not-cabinet"       // other contents
	CodeTruncated     = "truncated"         // the file ends before what its headers describe
	CodeBadHeader     = "bad-header"        // header, folder or file entry
	CodeBadChecksum   = "bad-checksum"      // a block was changed since it was written
	CodeBadData       = "bad-data"          // a block that does not unpack
	CodeQuantum       = "quantum"           // compression that is not read
	CodeMethod        = "unknown-method"    // compression that is not known
	CodeMultiCabinet  = "multi-cabinet"     // the file goes on in another cabinet
	CodeOutsideFolder = "file-outside-data" // the folder ends before the file does
	CodeReadFailed    = "read-failed"       // the reader that was passed in failed; the cause is wrapped
)

// An Error says what is wrong with a cabinet, and at which offset of the file.
type Error struct {
	Code    string
	Offset  int64 // in bytes of the file
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("cab: %s (offset %#x)", e.Message, e.Offset)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func fail(code string, offset int64, format string, args ...any) *Error {
	return &Error{Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
