package pdb

import (
	"fmt"

	"heapdrift/ingest/evidence"
)

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNotPDB      = "not-a-pdb"    // the file is something else
	CodePDB2        = "pdb-2.00"     // Visual C++ 6 or older
	CodePortable    = "portable-pdb" // of .NET, without native code
	CodeCabinet     = "cabinet"      // a compressed PDB of a symbol store
	CodeTruncated   = "truncated"    // something needed lies behind the file's end
	CodeCorrupt     = "corrupt"      // contents that contradict themselves
	CodeUnsupported = "unsupported"  // a version or compression that is not read
	CodeNoSections  = "no-sections"  // addresses cannot be told without the image's section headers
	CodeNoStream    = "no-stream"    // the PDB has no stream for what was asked
	CodeReadFailed  = evidence.CodeReadFailed
)

// fail says what is wrong and where: in the stream of that number, or in the file itself for -1.
func fail(code string, stream int, offset int64, format string, args ...any) *evidence.Error {
	e := &evidence.Error{Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
	if stream >= 0 {
		e.Part = fmt.Sprintf("stream %d", stream)
	}
	return e
}
