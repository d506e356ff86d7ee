// Package evidence has the words that readers of evidence share with everything behind them: the error that says why a
// file cannot be read, and the facts of a format. It imports nothing of ours, so that readers, jobs, the API and pages
// can all use it.
package evidence

import (
	"errors"
	"fmt"
	"strings"
)

// The codes of errors that more than one package gives or tells apart. They are stable: the API and the command line
// pass them on. Codes of one reader alone stand in its package.
const (
	CodeReadFailed = "read-failed" // the reader that was passed in failed; the cause is wrapped

	CodeEmptyFile         = "empty-file"
	CodeUnknownFormat     = "unknown-format"
	CodeKernelDump        = "kernel-dump"
	CodeUnsupportedFormat = "unsupported-format"
	CodeArchiveBomb       = "archive-bomb"
	CodeDamagedArchive    = "damaged-archive"
	CodeNoEvidence        = "no-evidence"

	CodeBadDumpHeader = "bad-header"   // the header of a dump leads nowhere
	CodeNoHeapMemory  = "no-heap"      // a dump without the memory of heaps
	CodeOtherSystem   = "other-system" // a dump of a process on another system than Windows
	CodeNotTrace      = "not-etl"      // the file is named as a trace and is none
)

// An Error says what is wrong, where, and what to do about it. Line, Offset and Address are 0 where they are unknown.
type Error struct {
	Code    string // stable: callers tell cases apart by it
	File    string // "" where the reader was given no name
	Message string // a clause that names its subject: "the dump is cut short within its header"
	Do      string // what to do next, as an imperative; "" where nothing helps

	Line    int64  // of a text, from 1: how far reading had come
	Part    string // what Offset counts in, as "stream 3"; "" for the file as it is stored
	Offset  int64  // bytes from the start of the file or Part
	Address uint64 // in the process that the evidence is of

	Err error // cause, or nil
	// Internal says that this program or its machine failed, and not the evidence: another try may not meet it.
	Internal bool
}

// Error gives "file: message (place): cause; what to do".
func (e *Error) Error() string {
	if e.File == "" {
		return e.Sentence()
	}
	return e.File + ": " + e.Sentence()
}

// Sentence is Error without the file, for a place that names the file already.
func (e *Error) Sentence() string {
	s := e.Message
	var place []string
	if e.Line > 0 {
		place = append(place, fmt.Sprintf("line %d", e.Line))
	}
	if e.Part != "" {
		place = append(place, e.Part)
	}
	if e.Offset > 0 {
		place = append(place, fmt.Sprintf("offset %#x", e.Offset))
	}
	if e.Address > 0 {
		place = append(place, fmt.Sprintf("address %#x", e.Address))
	}
	if len(place) > 0 {
		s += " (" + strings.Join(place, ", ") + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Do != "" {
		s += "; " + e.Do
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsRefusal reports whether err says that something is wrong with the evidence: reading it again gives the same error.
func IsRefusal(err error) bool { return Refusal(err) != nil }

// Refusal returns the error in the chain of err that refuses the evidence, and nil for failures that another try may
// not meet. It looks behind those: where a reader failed because an archive unpacks to too much, the archive is what is
// refused.
func Refusal(err error) *Error {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if !e.Internal && e.Code != CodeReadFailed {
			return e
		}
	}
	return nil
}
