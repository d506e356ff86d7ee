package appverifier

import "heapdrift/ingest/evidence"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoData     = "no-appverifier-log" // no session of Application Verifier was found
	CodeNoStops    = "no-stops"           // a log that is whole, and in which nothing was found
	CodeReadFailed = evidence.CodeReadFailed
)
