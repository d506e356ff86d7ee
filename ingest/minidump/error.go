package minidump

import (
	"errors"
	"fmt"

	"heapdrift/ingest/evidence"
)

// The codes of errors. They are stable: callers tell cases apart by them. Those of the first group are given by Open
// only, and nothing is returned beside them.
const (
	CodeNotMinidump = "not-minidump"             // the file is something else
	CodeKernelDump  = evidence.CodeKernelDump    // memory of the kernel, not of a process
	CodeOldUserDump = "old-user-dump"            // a dump of a process in the format before minidumps
	CodeOtherSystem = evidence.CodeOtherSystem   // a minidump of a process on another system than Windows
	CodeBadHeader   = evidence.CodeBadDumpHeader // the header leads nowhere

	CodeReadFailed  = evidence.CodeReadFailed
	CodeTruncated   = "truncated"               // the file or a stream ends before what it says it holds
	CodeBadStream   = "bad-stream"              // a stream contradicts itself, and was not read
	CodeBadEntry    = "bad-entry"               // an entry of a list makes no sense, and was left out
	CodeBadName     = "bad-name"                // a name lies outside the file, and was left empty
	CodeTooMany     = "too-many"                // more than is read of one dump; the rest was left out
	CodeOverlap     = "overlap"                 // ranges of memory overlap; the first was taken
	CodeRepeated    = "repeated"                // a stream that should be there once is there again; the first was taken
	CodeNoStream    = "no-stream"               // the dump does not have the stream
	CodeNoRegisters = "no-registers"            // the dump does not have the registers that were asked for
	CodeNoHeap      = evidence.CodeNoHeapMemory // see WithoutHeap
)

// A Problem is damage to a part of a dump that is read in spite of it. What keeps a file from being read at all is an
// evidence.Error.
type Problem struct {
	Code    string
	Stream  StreamType // 0 where no stream is concerned
	Entry   int64      // of the stream's list, from 0: the first that is concerned; −1 where none is
	Offset  int64      // in the file, where it was found
	Count   int64      // how many entries, names or bytes are concerned, in the unit that the message names
	Message string
	Err     error // cause, or nil
}

func (e *Problem) Error() string {
	s := "minidump: " + e.Message + " ("
	if e.Stream != 0 {
		s += e.Stream.String() + ", "
	}
	if e.Entry >= 0 {
		s += fmt.Sprintf("entry %d, ", e.Entry)
	}
	s += fmt.Sprintf("offset %#x)", e.Offset)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the error that the problem was met with; nil where the dump itself is wrong.
func (e *Problem) Unwrap() error { return e.Err }

// Problems returns every Problem in the error of a method of Dump, in the order of the file: a stream may have several
// kinds of damage. It is empty for nil and for other errors.
func Problems(err error) []*Problem {
	switch e := err.(type) { //nolint:errorlint // the shape of this package's own errors, not what they wrap
	case *Problem:
		return []*Problem{e}
	case *problemList:
		return e.list
	}
	var first *Problem
	if errors.As(err, &first) {
		return []*Problem{first}
	}
	return nil
}

// problemList is more than one error of a stream.
type problemList struct{ list []*Problem }

func (s *problemList) Error() string {
	text := s.list[0].Error()
	for _, e := range s.list[1:] {
		text += "; " + e.Error()
	}
	return text
}

func (s *problemList) Unwrap() []error {
	errs := make([]error, len(s.list))
	for i, e := range s.list {
		errs[i] = e
	}
	return errs
}

// problems collects what is wrong with a stream: one error for each code, the first with the number of all.
type problems struct {
	stream StreamType
	list   []*Problem
}

// add notes a problem of count entries, names or bytes. Of further ones with the same code only the number counts.
func (p *problems) add(code string, entry, offset, count int64, format string, args ...any) {
	p.addCaused(nil, code, entry, offset, count, format, args...)
}

// failed notes that reading the file failed.
func (p *problems) failed(offset int64, err error) {
	p.addCaused(err, CodeReadFailed, -1, offset, 1, "reading the dump failed")
}

func (p *problems) addCaused(cause error, code string, entry, offset, count int64, format string, args ...any) {
	for _, e := range p.list {
		if e.Code == code {
			e.Count = saturated(e.Count, count)
			return
		}
	}
	p.list = append(p.list, &Problem{
		Code: code, Stream: p.stream, Entry: entry, Offset: offset, Count: count,
		Message: fmt.Sprintf(format, args...), Err: cause,
	})
}

// err is nil, a *Problem, or several of them.
func (p *problems) err() error {
	switch len(p.list) {
	case 0:
		return nil
	case 1:
		return p.list[0]
	}
	return &problemList{p.list}
}

// saturated adds numbers that are not negative without wrapping.
func saturated(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}

// A MissingError says that a dump does not hold the memory at Address. What was read before that is good.
type MissingError struct{ Address uint64 }

func (e *MissingError) Error() string { return fmt.Sprintf("minidump: no memory at %#x", e.Address) }
