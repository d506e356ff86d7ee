package ingest

import (
	"bytes"
	"fmt"
	"strings"

	"heapdrift/ingest/etl"
)

// sniffBytes is how much of a file's beginning tells what it is.
const sniffBytes = 64 << 10

// A wrapping is a way that evidence may be packed.
type wrapping int

const (
	plain wrapping = iota
	wrapGzip
	wrapZstd
	wrapZip
	wrap7z
)

var wrappings = []struct {
	magic string
	wrapping
}{{"\x1f\x8b", wrapGzip}, {"\x28\xb5\x2f\xfd", wrapZstd}, {"PK\x03\x04", wrapZip}, {"PK\x05\x06", wrapZip}, {signature7z, wrap7z}}

// A foreigner is a kind of file that people upload and that is not read.
type foreigner struct {
	magic, code string
	message     string // what it is and what to do
	symbols     bool   // it is a PDB or an image
}

const (
	kernelDump = "this is a kernel memory dump; heapdrift analyses user-mode processes: make a full user dump of the process (procdump -ma PID)"
	unpackIt   = "; this version unpacks zip, 7z, gz and zst: unpack it first"
	sendIt     = ", not evidence; upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"
	notIt      = ", not evidence; upload the log that umdh -f wrote, the .etl file that xperf or wpr wrote, or a full dump"
	oldDump    = "this is a user dump in the format before minidumps, which is not read; make a full minidump: procdump -ma PID"
)

var foreign = []foreigner{
	{magic: "PAGEDU64", code: CodeKernelDump, message: kernelDump},
	{magic: "PAGEDUMP", code: CodeKernelDump, message: kernelDump},
	{magic: "USERDUMP", code: CodeUnsupported, message: oldDump},
	{magic: "HDMP", code: CodeUnsupported, message: oldDump},
	{magic: "\x7fELF", code: CodeUnsupported, message: "this is a program or a core dump of Linux; heapdrift analyses Windows processes"},
	{magic: "MSCF", code: CodeUnsupported, message: "this is a CAB archive" + unpackIt + ". A compressed PDB or image is uploaded as symbols: PUT /api/v1/symbols"},
	{magic: "Rar!", code: CodeUnsupported, message: "this is a RAR archive" + unpackIt},
	{magic: "\xfd7zXZ\x00", code: CodeUnsupported, message: "this is an xz file" + unpackIt},
	{magic: "BZh", code: CodeUnsupported, message: "this is a bzip2 file" + unpackIt},
	{magic: "Microsoft C/C++ MSF 7.00", code: CodeUnsupported, message: "this is a PDB" + sendIt, symbols: true},
	{magic: "Microsoft MSFZ Container", code: CodeUnsupported, message: "this is a PDB" + sendIt, symbols: true},
	{magic: "BSJB", code: CodeUnsupported, message: "this is a portable PDB of managed code" + sendIt, symbols: true},
	{magic: "MZ", code: CodeUnsupported, message: "this is an executable image" + sendIt, symbols: true},
	{magic: "\xff\xd8\xff", code: CodeUnknown, message: "this is a JPEG picture" + notIt},
	{magic: "\x89PNG", code: CodeUnknown, message: "this is a PNG picture" + notIt},
	{magic: "%PDF", code: CodeUnknown, message: "this is a PDF document" + notIt},
	{magic: "SQLite format 3", code: CodeUnknown, message: "this is an SQLite database" + notIt},
}

// wrappingOf says how a file is packed by its beginning.
func wrappingOf(head []byte) wrapping {
	for _, w := range wrappings {
		if bytes.HasPrefix(head, []byte(w.magic)) {
			return w.wrapping
		}
	}
	return plain
}

// recognise says what kind of evidence a file is by its beginning, or why none.
func recognise(name string, head []byte) (Kind, *Error) {
	if len(head) == 0 {
		return "", &Error{Code: CodeEmpty, File: name, Message: "the file is empty; check that the tool that made it ran to its end"}
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return "", &Error{Code: f.code, File: name, Message: f.message, symbols: f.symbols}
		}
	}
	for i := range formats {
		if formats[i].sniff(head) {
			return formats[i].kind, nil
		}
	}
	if isNamedTrace(name) {
		return "", &Error{Code: CodeNotTrace, File: name, Message: "this is named as an ETW trace and is none: " + missing(head)}
	}
	return "", &Error{Code: CodeUnknown, File: name, Message: "the format is not known; heapdrift reads UMDH logs and differences, ETW traces (.etl), full dumps (.dmp), reports of DebugDiag (.mht, .html), " +
		"logs of WinDbg, files of VMMap (.mmp) and logs of Application Verifier (.xml), also as zip, 7z, gz or zst"}
}

// isNamedTrace reports whether a file is called a trace.
func isNamedTrace(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".etl") }

// missing says what a file lacks that should be a trace.
func missing(head []byte) string {
	switch {
	case len(bytes.Trim(head, "\x00")) == 0:
		return fmt.Sprintf("its first %d bytes are all zero, as of a file whose copy or download was broken off; copy it again", len(head))
	case len(head) < etl.SniffSize:
		return fmt.Sprintf("it has %d bytes and ends inside the header of its first buffer; copy it again after the session was stopped", len(head))
	}
	return fmt.Sprintf("it does not begin with the header of a trace (its first bytes are % x)", head[:min(len(head), 16)])
}
