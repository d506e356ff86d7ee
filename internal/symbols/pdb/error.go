package pdb

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNotPDB      = "not-a-pdb"    // other contents
	CodePDB2        = "pdb-2.00"     // Visual C++ 6 or older
	CodePortable    = "portable-pdb" // of .NET, without native code
	CodeCabinet     = "cabinet"      // a compressed PDB of a symbol store
	CodeTruncated   = "truncated"    // something needed lies behind the file's end
	CodeCorrupt     = "corrupt"      // contents that contradict themselves
	CodeUnsupported = "unsupported"  // a version or compression that is not read
	CodeNoSections  = "no-sections"  // addresses cannot be told without the image's section headers
	CodeNoStream    = "no-stream"    // the PDB has no stream for what was asked
	CodeReadFailed  = "read-failed"  // the reader that was passed in failed; the cause is wrapped
)

// An Error says what is wrong with a PDB and where: Stream is the stream's number, or -1 for the file itself, and
// Offset counts bytes from its start.
type Error struct {
	Code    string
	Stream  int
	Offset  int64
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	place := fmt.Sprintf("stream %d, offset %#x", e.Stream, e.Offset)
	if e.Stream < 0 {
		place = fmt.Sprintf("offset %#x", e.Offset)
	}
	s := fmt.Sprintf("pdb: %s (%s)", e.Message, place)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func fail(code string, stream int, offset int64, format string, args ...any) *Error {
	return &Error{Code: code, Stream: stream, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
