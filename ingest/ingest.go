// Package ingest recognises evidence, takes it out of what it is packed in, and hands it to the reader of its format.
//
// Logs and reports are read as they stream out of an archive. Traces and dumps need random access: one that is a file of its own
// is read where it lies, one that is packed is unpacked to a temporary file that no folder lists and that goes with the read.
//
// What is unpacked, by the first bytes and never by the name: gz (RFC 1952), zst (RFC 8878), zip (PKWARE APPNOTE; PerfView's
// .etl.zip and Visual Studio's .diagsession are zips), and 7z (7zFormat.txt of the LZMA SDK).
package ingest

import (
	"context"
	"io"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/umdh"
)

// A Kind is a format of evidence that there is a reader for.
type Kind string

// The kinds of evidence.
const (
	KindUMDH        Kind = "umdh" // a log or a difference that umdh.exe wrote
	KindETL         Kind = "etl"  // an event trace log
	KindMinidump    Kind = "minidump"
	KindDebugDiag   Kind = "debugdiag-report"
	KindWinDbg      Kind = "windbg-log"
	KindVMMap       Kind = "vmmap"
	KindAppVerifier Kind = "appverifier-log"
)

// IsRandom reports whether evidence of this kind is read at random: it should lie on a disk nearby.
func (k Kind) IsRandom() bool { return k == KindETL || k == KindMinidump }

// A Source is a file that may be evidence.
type Source struct {
	Name string
	io.ReaderAt
	Size int64 // bytes
}

// Options tune reading.
type Options struct {
	Base umdh.Base // of the numbers in UMDH differences
	// Types finds the structures of an ntdll by its PDB, for the heaps of dumps; nil for the tables that are built in.
	Types    func(ctx context.Context, pdb, debugID string) ntheap.Types
	Progress func(done, total int64) // bytes of the sources consumed; may be nil
}

// Inspect looks whether a source is evidence, without reading what it says; of a dump that is not packed also whether it tells
// about heaps. Archives are unpacked to nowhere, so
// that one that would never end is refused here. An archive of traces and other evidence is a trace, one of dumps and logs is
// dumps. Its error is an *Error
// unless reading itself failed.
func Inspect(ctx context.Context, src Source) (Kind, error) {
	var found Kind
	_, err := evidence(ctx, src, nil, func(m Member, kind Kind) error {
		if found == "" || kind == KindETL || found != KindETL && kind == KindMinidump {
			found = kind
		}
		if !m.Packed {
			return check(ctx, m, kind)
		}
		_, err := io.Copy(io.Discard, m)
		return err
	})
	return found, err
}
