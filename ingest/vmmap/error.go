package vmmap

import "heapdrift/ingest/evidence"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-vmmap-data" // no region of VMMap was found
	CodeReadFailed = evidence.CodeReadFailed
)
