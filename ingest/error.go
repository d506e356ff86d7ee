package ingest

import "fmt"

// The codes of errors that reading evidence gives. They are stable: the API and the command line pass them on.
const (
	CodeEmpty       = "empty-file"
	CodeUnknown     = "unknown-format"
	CodeKernelDump  = "kernel-dump"
	CodeUnsupported = "unsupported-format"
	CodeBomb        = "archive-bomb"
	CodeDamaged     = "damaged-archive"
	CodeNoEvidence  = "no-evidence"
)

// An Error says why a file cannot be read as evidence and what to do instead.
type Error struct {
	Code    string
	File    string
	Message string
	Err     error // cause, or nil
}

func (e *Error) Error() string {
	s := e.File + ": " + e.Message
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
