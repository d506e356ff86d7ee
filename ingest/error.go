package ingest

import (
	"fmt"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/minidump"
)

// The codes of errors that reading evidence gives. They are stable: the API and the command line pass them on.
const (
	CodeEmpty       = "empty-file"
	CodeUnknown     = "unknown-format"
	CodeKernelDump  = "kernel-dump"
	CodeUnsupported = "unsupported-format"
	CodeBomb        = "archive-bomb"
	CodeDamaged     = "damaged-archive"
	CodeNoEvidence  = "no-evidence"
	// Of dumps, which have more codes of minidump's.
	CodeNoHeap      = minidump.CodeNoHeap
	CodeOtherSystem = minidump.CodeOtherSystem
	CodeBadDump     = minidump.CodeBadHeader
	CodeNotTrace    = etl.CodeNotETL // it is named as a trace and is none; what else is wrong with traces has etl's codes
)

// An Error says why a file cannot be read as evidence and what to do instead.
type Error struct {
	Code    string
	File    string
	Message string
	Err     error // cause, or nil

	symbols bool // the file is a PDB or an image
}

func (e *Error) Error() string {
	s := e.File + ": " + e.Message
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
