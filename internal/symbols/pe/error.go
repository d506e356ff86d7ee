package pe

import (
	"fmt"

	"heapdrift/ingest/evidence"
)

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNotPE      = "not-pe"      // no image: other contents, or a 16-bit program
	CodeTruncated  = "truncated"   // the file ends before what its headers describe
	CodeBadHeader  = "bad-header"  // headers that no loader accepts
	CodeBadDebug   = "bad-debug"   // debug directory or CodeView record
	CodeBadExports = "bad-exports" // export directory
	CodeBadUnwind  = "bad-unwind"  // .pdata or unwind data
	CodeReadFailed = evidence.CodeReadFailed
)

func fail(code string, offset int64, format string, args ...any) *evidence.Error {
	return &evidence.Error{Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
