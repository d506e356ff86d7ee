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
	w := walker{visit: func(m member) error {
		found = m.kind
		if !m.packed {
			return nil
		}
		_, err := io.Copy(io.Discard, m)
		return err
	}}
	err := w.walk(ctx, src)
	return found, err
}

// Read reads all captures in a source, in the order of the archive's names. Captures that were read are returned
// beside an error that ended the reading.
func Read(ctx context.Context, src Source, opt Options) ([]*capture.Capture, error) {
	var captures []*capture.Capture
	w := walker{progress: opt.Progress, visit: func(m member) error {
		got, err := umdh.Read(ctx, m, umdh.Options{Base: opt.Base})
		captures = append(captures, got...)
		return err
	}}
	if err := w.walk(ctx, src); err != nil {
		return captures, err
	}
	if left := w.left; len(left) > 0 && len(captures) > 0 {
		captures[0].Warnings = append(captures[0].Warnings, capture.Warning{Code: capture.Unsupported, Count: int64(len(left)),
			Message: fmt.Sprintf("%d files of %s are no evidence and are left out: %s", len(left), src.Name, shortList(left))})
	}
	return captures, nil
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
