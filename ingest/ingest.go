// Package ingest recognises evidence, takes it out of archives, and hands it to the reader of its format.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
)

// A Kind is a format of evidence that there is a reader for.
type Kind string

// KindUMDH is a log or a difference that umdh.exe wrote.
const KindUMDH Kind = "umdh"

// A Source is a file that may be evidence.
type Source struct {
	Name string
	io.ReaderAt
	Size int64 // bytes
}

// Options tune reading.
type Options struct {
	Base     umdh.Base               // of the numbers in UMDH differences
	Progress func(done, total int64) // bytes of the source consumed; may be nil
}

// Inspect looks whether a source is evidence, without reading what it says. Archives are unpacked to nowhere, so
// that one that would never end is refused here. Its error is an *Error unless reading itself failed.
func Inspect(ctx context.Context, src Source) (Kind, error) {
	var found Kind
	_, err := evidence(ctx, src, nil, func(m Member, kind Kind) error {
		found = kind
		if !m.Packed {
			return nil
		}
		_, err := io.Copy(io.Discard, m)
		return err
	})
	return found, err
}

// Read reads all captures in a source, in the order of the archive's names. Captures that were read are returned
// beside an error that ended the reading.
func Read(ctx context.Context, src Source, opt Options) ([]*capture.Capture, error) {
	var captures []*capture.Capture
	left, err := evidence(ctx, src, opt.Progress, func(m Member, _ Kind) error {
		got, err := umdh.Read(ctx, m, umdh.Options{Base: opt.Base})
		captures = append(captures, got...)
		return err
	})
	if err != nil {
		return captures, err
	}
	if len(left) > 0 && len(captures) > 0 {
		captures[0].Warnings = append(captures[0].Warnings, capture.Warning{Code: capture.Unsupported, Count: int64(len(left)),
			Message: fmt.Sprintf("%d files of %s are no evidence and are left out: %s", len(left), src.Name, shortList(left))})
	}
	return captures, nil
}

// evidence visits every piece of evidence in a source. In an archive of several files those that are no evidence are
// passed over and their names returned; at least one must be evidence.
func evidence(ctx context.Context, src Source, progress func(done, total int64), visit func(Member, Kind) error) (left []string, err error) {
	found := 0
	var last *Error
	w := walker{progress: progress}
	w.visit = func(m Member) error {
		kind, refusal := recognise(m.Name, m.Head)
		if refusal != nil {
			return refusal
		}
		found++
		return readError(m.Name, visit(m, kind))
	}
	w.pass = func(name string, e *Error) bool {
		if !isNoEvidence(e.Code) {
			return false
		}
		left, last = append(left, name), e
		return true
	}
	switch err := w.walk(ctx, src); {
	case err != nil:
		return left, err
	case found > 0:
		return left, nil
	case last == nil:
		return nil, noEvidence(src.Name, nil)
	case w.entries == 1:
		return left, last
	}
	return left, noEvidence(src.Name, last)
}

func noEvidence(archive string, last error) *Error {
	return &Error{Code: CodeNoEvidence, File: archive, Message: "the archive holds no evidence that this version reads", Err: last}
}

// isNoEvidence reports whether a code says that a file is something else, rather than that it is harmful or damaged.
func isNoEvidence(code string) bool {
	return code == CodeEmpty || code == CodeUnknown || code == CodeUnsupported || code == CodeKernelDump
}

// shortList names the first few.
func shortList(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// readError gives errors of a format reader the file's name; those that already say it, and the context's, pass.
func readError(name string, err error) error {
	var ours *Error
	var format *umdh.Error
	switch {
	case err == nil || errors.As(err, &ours) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &format):
		return &Error{Code: format.Code, File: name, Message: format.Error()}
	}
	return fmt.Errorf("ingest: read %s: %w", name, err)
}
