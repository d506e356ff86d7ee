package etl

import "fmt"

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeNoSource    = "no-source"      // Open was given no file, or more than it can number
	CodeNotETL      = "not-etl"        // the file does not begin with a trace's header buffer
	CodeBadHeader   = "bad-log-header" // the log-file header is cut short or contradicts itself
	CodeBadClock    = "bad-clock"      // the time stamps cannot be turned into time
	CodeOtherBoot   = "other-boot"     // files of different boots or clocks cannot be one trace
	CodeUnsupported = "unsupported-compression"
	CodeTooMany     = "too-many-buffers" // more buffers than the index may hold
	CodeReadFailed  = "read-failed"      // the reader that was passed in failed; the cause is wrapped
)

// An Error says why a trace could not be opened or read. File is the source's name, Offset counts bytes of it.
type Error struct {
	Code    string
	File    string
	Offset  int64
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := "etl: " + e.Message
	if e.File != "" {
		s += fmt.Sprintf(" (%s, offset %#x)", e.File, e.Offset)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
