package etl

import "heapdrift/ingest/evidence"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoSource    = "no-source"               // Open was given no file, or more than it can number
	CodeNotETL      = evidence.CodeNotTrace     // the file does not begin with a trace's header buffer
	CodeBadHeader   = "bad-log-header"          // the log-file header is cut short or contradicts itself
	CodeBadClock    = "bad-clock"               // the time stamps cannot be turned into time
	CodeOtherBoot   = "other-boot"              // files of different boots or clocks cannot be one trace
	CodeUnsupported = "unsupported-compression" // the file is compressed by a method that is not read
	CodeTooMany     = "too-many-buffers"        // more buffers than the index may hold
	CodeReadFailed  = evidence.CodeReadFailed
)
