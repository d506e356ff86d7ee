package umdh

import "heapdrift/ingest/evidence"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-umdh-data" // nothing that UMDH writes was found
	CodeReadFailed = evidence.CodeReadFailed
	CodeBadBase    = "unknown-base" // ParseBase was given something else
)
