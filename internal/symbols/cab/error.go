package cab

import (
	"fmt"

	"heapdrift/ingest/evidence"
)

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
	CodeReadFailed    = evidence.CodeReadFailed
)

func fail(code string, offset int64, format string, args ...any) *evidence.Error {
	return &evidence.Error{Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
