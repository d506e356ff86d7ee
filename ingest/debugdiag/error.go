package debugdiag

import "heapdrift/ingest/evidence"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-debugdiag-data" // nothing that DebugDiag reports was found
	CodeNoPage     = "no-page"           // a MIME document without a part that is text/html
	CodeReadFailed = evidence.CodeReadFailed
)
