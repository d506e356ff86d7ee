// Package ingest recognises evidence, unpacks it, and hands it to the reader of its format. In come Sources: files and
// archives as people upload them. Out goes a Reading: captures, the allocation table of a trace, and which files of an
// archive were refused or skipped. A file that cannot be read gives an *evidence.Error.
//
// Logs and reports are read as they stream out of an archive. Traces and dumps need random access. One that is not
// packed is read where it lies. One that is packed is unpacked to a temporary file, which no folder lists and which is
// deleted when the read ends.
//
// Archives are recognised by their first bytes, never by their name: gz (RFC 1952), zst (RFC 8878), zip (PKWARE
// APPNOTE) and 7z (7zFormat.txt of the LZMA SDK). PerfView's .etl.zip and Visual Studio's .diagsession are zips.
package ingest

import (
	"context"
	"io"
	"math"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/umdh"
)

// A Source is a file that may be evidence.
type Source struct {
	Name string // file name, as the user gave it
	io.ReaderAt
	Size int64 // bytes
}

// Options tune reading.
type Options struct {
	Base umdh.Base // number base of the counters in UMDH differences
	// Types finds the structures of an ntdll by its PDB, for the heaps of dumps; nil for the tables that are built in.
	Types    func(ctx context.Context, pdb, debugID string) ntheap.Types
	Progress func(done, total int64) // bytes of the sources consumed; may be nil
}

// Inspect says which format a source is of, by its beginning; for formats that have a Check, and if the file is not
// packed, by that too. Archives are unpacked without keeping anything: one that would never end is refused here. An
// archive has the kind of the file in it with the highest ArchivePriority. The error is an *evidence.Error unless
// reading itself failed.
func Inspect(ctx context.Context, src Source) (evidence.Kind, error) {
	found := &evidence.Format{ArchivePriority: math.MinInt}
	_, err := eachEvidence(ctx, src, nil, func(m Member, f *format) error {
		if f.ArchivePriority > found.ArchivePriority {
			found = &f.Format
		}
		switch {
		case m.Packed:
			_, err := io.Copy(io.Discard, m)
			return err
		case f.check != nil:
			return f.check(ctx, m.w.in, m.w.src.Size)
		}
		return nil
	})
	return found.Kind, err
}
