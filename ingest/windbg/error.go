package windbg

import "heapdrift/ingest/evidence"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-windbg-output" // no output that this package reads was found
	CodeReadFailed = evidence.CodeReadFailed
)
