package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/sevenzip"
)

// A wrapping is a way that evidence may be packed.
type wrapping int

const (
	plain wrapping = iota
	wrapGzip
	wrapZstd
	wrapZip
	wrap7z
)

// A packing is how a file begins that is packed in a way, and what people call it.
type packing struct {
	magic string
	wrapping
	name string // with its article
}

var packings = []packing{
	{"\x1f\x8b", wrapGzip, "a gz file"}, {"\x28\xb5\x2f\xfd", wrapZstd, "a zst file"},
	{"PK\x03\x04", wrapZip, "a zip archive"}, {"PK\x05\x06", wrapZip, "a zip archive"},
	{sevenzip.Signature, wrap7z, "a 7z archive"},
}

// A foreigner is a kind of file that people upload and that is not read.
type foreigner struct {
	magic, code string
	message, do string // what it is and what to do
	symbols     bool   // it is a PDB or an image
}

const (
	kernelDump = "this is a kernel memory dump; heapdrift analyses user-mode processes"
	fullDump   = "make a full user dump of the process: procdump -ma PID"
	unpackIt   = "unpack it first: this version unpacks zip, 7z, gz and zst"
	sendIt     = "upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"
	notIt      = "upload the log that umdh -f wrote, the .etl file that xperf or wpr wrote, or a full dump"
	oldDump    = "this is a user dump in the format before minidumps, which is not read"
)

var foreign = []foreigner{
	{"PAGEDU64", evidence.CodeKernelDump, kernelDump, fullDump, false},
	{"PAGEDUMP", evidence.CodeKernelDump, kernelDump, fullDump, false},
	{"USERDUMP", evidence.CodeUnsupportedFormat, oldDump, fullDump, false},
	{"HDMP", evidence.CodeUnsupportedFormat, oldDump, fullDump, false},
	{"\x7fELF", evidence.CodeUnsupportedFormat,
		"this is a program or a core dump of Linux; heapdrift analyses Windows processes", "", false},
	{"MSCF", evidence.CodeUnsupportedFormat, "this is a CAB archive", unpackIt +
		". A compressed PDB or image is uploaded as symbols: PUT /api/v1/symbols", false},
	{"Rar!", evidence.CodeUnsupportedFormat, "this is a RAR archive", unpackIt, false},
	{"\xfd7zXZ\x00", evidence.CodeUnsupportedFormat, "this is an xz file", unpackIt, false},
	{"BZh", evidence.CodeUnsupportedFormat, "this is a bzip2 file", unpackIt, false},
	{"Microsoft C/C++ MSF 7.00", evidence.CodeUnsupportedFormat, "this is a PDB, not evidence", sendIt, true},
	{"Microsoft MSFZ Container", evidence.CodeUnsupportedFormat, "this is a PDB, not evidence", sendIt, true},
	{"BSJB", evidence.CodeUnsupportedFormat, "this is a portable PDB of managed code, not evidence", sendIt, true},
	{"MZ", evidence.CodeUnsupportedFormat, "this is an executable image, not evidence", sendIt, true},
	{"\xff\xd8\xff", evidence.CodeUnknownFormat, "this is a JPEG picture, not evidence", notIt, false},
	{"\x89PNG", evidence.CodeUnknownFormat, "this is a PNG picture, not evidence", notIt, false},
	{"%PDF", evidence.CodeUnknownFormat, "this is a PDF document, not evidence", notIt, false},
	{"SQLite format 3", evidence.CodeUnknownFormat, "this is an SQLite database, not evidence", notIt, false},
}

// foreignerOf is the kind of file that is not read and that begins with head; nil for none that is known.
func foreignerOf(head []byte) *foreigner {
	for i := range foreign {
		if bytes.HasPrefix(head, []byte(foreign[i].magic)) {
			return &foreign[i]
		}
	}
	return nil
}

// isSymbols reports whether a file begins as a PDB or an image.
func isSymbols(head []byte) bool {
	f := foreignerOf(head)
	return f != nil && f.symbols
}

// packingOf says how a file is packed by its beginning; nil where it is not.
func packingOf(head []byte) *packing {
	for i := range packings {
		if bytes.HasPrefix(head, []byte(packings[i].magic)) {
			return &packings[i]
		}
	}
	return nil
}

// wrappingOf is the way in which a file is packed.
func wrappingOf(head []byte) wrapping {
	if p := packingOf(head); p != nil {
		return p.wrapping
	}
	return plain
}

// IsPacked reports whether a file begins as an archive or a compressed file, which is unpacked before its format can be
// told.
func IsPacked(r io.ReaderAt) (bool, error) {
	head := make([]byte, 8)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("ingest: %w", err)
	}
	return wrappingOf(head[:n]) != plain, nil
}

// recognise says which format a file is of by its beginning, or why of none.
func recognise(name string, head []byte) (*format, error) {
	if len(head) == 0 {
		return nil, &evidence.Error{Code: evidence.CodeEmptyFile, File: name, Message: "the file is empty",
			Do: "check that the tool that made it ran to its end"}
	}
	if f := foreignerOf(head); f != nil {
		return nil, &evidence.Error{Code: f.code, File: name, Message: f.message, Do: f.do}
	}
	if f := sniffed(head); f != nil {
		return f, nil
	}
	if f := promised(name); f != nil {
		e := f.lacks(head)
		e.File = name
		return nil, e
	}
	return nil, &evidence.Error{Code: evidence.CodeUnknownFormat, File: name,
		Message: "the format is not known; heapdrift reads " + Formats().Files() + ", also as zip, 7z, gz or zst"}
}
