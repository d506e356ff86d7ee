// Package exitlog reads the lists of blocks that were left when a program ended, out of any log that they were printed
// into: the output of a program, the log of a CI job, or a tool's own report.
//
//	Detected memory leaks!            the debug CRT of Visual C++, and MFC        crt.go
//	---------- Block 1 at 0x…         Visual Leak Detector 1.9 to 2.9             vld.go
//	Error #1: LEAK 2 direct bytes     Dr. Memory                                  drmemory.go
//	Direct leak of 7 byte(s) in …     LeakSanitizer, alone or in AddressSanitizer sanitizer.go
//	A memory block has been leaked.   FastMM 4 and 5                              fastmm.go
//	leaks: …  sum: 160 B / 2          heob                                        heob.go
//	<valgrindoutput>                  heob and Valgrind                           memcheck_xml.go
//	==4242== 24 bytes … lost          Valgrind                                    memcheck_text.go
//	Leak of 24 bytes in 2 objects …   the heap checker of gperftools              heapcheck.go
//	…: Allocation site: Function …    Intel Inspector                             inspector.go
//
// There is no specification of any of them. The layouts are those of the tools' manuals and of reports in public issue
// trackers; each file says which.
//
// A log is read in one pass. Stretches without a word of the list in triggers.go are skipped at the speed of a search.
// What CI systems put before a line is taken off (prefix.go): times, jobs, colours, the numbers of ctest. Lines of
// several processes that are told apart by such a prefix are read apart (lane.go). A list belongs to the test that was
// running when it was printed (tests.go).
package exitlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/plaintext"
)

// The kinds of captures, by the tool that printed the list.
const (
	KindCRT       capture.Kind = "crt-leaks"
	KindVLD       capture.Kind = "vld"
	KindDrMemory  capture.Kind = "drmemory"
	KindSanitizer capture.Kind = "sanitizer"
	KindFastMM    capture.Kind = "fastmm"
	KindHeob      capture.Kind = "heob"
	KindMemcheck  capture.Kind = "valgrind"
	KindHeapCheck capture.Kind = "heapcheck"
	KindInspector capture.Kind = "intel-inspector"
)

// sniffed is how much of a file tells whether it is a text, where nothing of a list is in it.
const sniffed = 64 << 10

// Sniff reports whether a list is in head, the first 64 KiB of a file, or may come behind it because the file is a text
// that is longer. Texts that have only lines of notes.go are taken, too: they are refused with a reason.
func Sniff(head []byte) bool {
	text, _ := io.ReadAll(plaintext.NewDecoder(bytes.NewReader(head))) // reading from memory does not fail
	if known.find(text) >= 0 {
		return true
	}
	return len(head) >= sniffed && isText(text)
}

// isText reports whether bytes are those of a text in UTF-8 or in a code page: few of them are control characters.
func isText(b []byte) bool {
	control := 0
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != 0x1B && c != '\b' && c != '\f' || c == 0x7F {
			control++
		}
	}
	const mostControl = 1000 // one of so many: a log has an odd one
	return control*mostControl <= len(b)
}

// Check returns an *evidence.Error if a file holds no list, and nil if it does. Other errors are those of reading.
func Check(ctx context.Context, r io.ReaderAt, size int64) error {
	s := newScanner(ctx, io.NewSectionReader(r, 0, size), known)
	if line, ok := s.next(true); !ok {
		return s.failure(noList())
	} else if begins.find(line) >= 0 {
		return nil
	}
	_, err := Read(ctx, io.NewSectionReader(r, 0, size)) // it says what the lines of notes.go mean
	return err
}

func noList() *evidence.Error {
	return &evidence.Error{Code: evidence.CodeUnknownFormat,
		Message: "the text holds no list of blocks that a program left at its exit",
		Do: "give the whole log, with what the debug CRT, Visual Leak Detector, Dr. Memory, a sanitizer, FastMM or another tool " +
			"of docs/leaks-at-exit.md printed when the program ended"}
}

// Read reads a log: one capture for each tool, process and test that left blocks, in the order of the log. It holds one
// buffer of the log and what the captures hold.
//
// Damage gives warnings, not an error. The error is an *evidence.Error when there is no list in r or when r fails, and
// the context's when that ends; what was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	s := newScanner(ctx, r, triggers)
	lanes := newLanes()
	for {
		line, ok := s.next(s.number >= lanes.openUntil)
		if !ok {
			break
		}
		lanes.line(line, s.number)
	}
	captures := lanes.finish(s)
	var err error
	if len(captures) == 0 {
		err = s.failure(lanes.out.refusal())
	} else if s.err != nil || ctx.Err() != nil {
		err = s.failure(nil)
	}
	return captures, err
}

// failure is why the log ended, or else what was found wrong with it; nil for nothing.
func (s *scanner) failure(otherwise *evidence.Error) error {
	var packed *evidence.Error
	switch {
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case errors.As(s.err, &packed): // an archive that cannot be unpacked further
		return s.err
	case s.err != nil:
		return &evidence.Error{Code: evidence.CodeReadFailed, Message: "reading the log failed", Line: s.number, Err: s.err}
	case otherwise != nil:
		otherwise.Line = cmp.Or(otherwise.Line, s.number)
		return otherwise
	}
	return nil
}

// isPlain reports whether bytes are printable ASCII, as most names are.
func isPlain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// validText makes bytes of a log a string that can be stored: other bytes than UTF-8 and control characters are
// replaced.
func validText(b []byte, most int) string {
	b = bytes.TrimSpace(b)
	if len(b) > most {
		b = b[:most]
	}
	if isPlain(b) {
		return string(b)
	}
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return utf8.RuneError
		}
		return r
	}, bytes.ToValidUTF8(b, []byte("\uFFFD"))))
}
