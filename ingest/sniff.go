package ingest

import (
	"bytes"
	"strings"

	"heapdrift/ingest/umdh"
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
)

var wrappings = []struct {
	magic string
	wrapping
}{{"\x1f\x8b", wrapGzip}, {"\x28\xb5\x2f\xfd", wrapZstd}, {"PK\x03\x04", wrapZip}, {"PK\x05\x06", wrapZip}}

// foreign are files that people upload and that are not read: by their first bytes, what they are and what to do.
var foreign = []struct{ magic, code, message string }{
	{"PAGEDU64", CodeKernelDump, "this is a kernel memory dump; heapdrift analyses user-mode processes: make a full user dump of the process (procdump -ma PID)"},
	{"PAGEDUMP", CodeKernelDump, "this is a kernel memory dump; heapdrift analyses user-mode processes: make a full user dump of the process (procdump -ma PID)"},
	{"MDMP", CodeUnsupported, "this is a minidump; this version does not read dumps: upload UMDH logs of the process"},
	{"7z\xbc\xaf\x27\x1c", CodeUnsupported, "this is a 7z archive; this version unpacks zip, gz and zst: pack it as one of these"},
	{"MSCF", CodeUnsupported, "this is a CAB archive; this version unpacks zip, gz and zst: unpack it first. A compressed PDB or image is uploaded as symbols: PUT /api/v1/symbols"},
	{"Rar!", CodeUnsupported, "this is a RAR archive; this version unpacks zip, gz and zst: unpack it first"},
	{"Microsoft C/C++ MSF 7.00", CodeUnsupported, "this is a PDB, not evidence; upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"},
	{"Microsoft MSFZ Container", CodeUnsupported, "this is a PDB, not evidence; upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"},
	{"MZ", CodeUnsupported, "this is an executable image, not evidence; upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"},
	{"\xff\xd8\xff", CodeUnknown, "this is a JPEG picture, not evidence; upload the text file that umdh -f wrote"},
	{"\x89PNG", CodeUnknown, "this is a PNG picture, not evidence; upload the text file that umdh -f wrote"},
	{"%PDF", CodeUnknown, "this is a PDF document, not evidence; upload the text file that umdh -f wrote"},
	{"SQLite format 3", CodeUnknown, "this is an SQLite database, not evidence"},
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
			return "", &Error{Code: f.code, File: name, Message: f.message}
		}
	}
	if umdh.Sniff(head) {
		return KindUMDH, nil
	}
	if strings.HasSuffix(strings.ToLower(name), ".etl") {
		return "", &Error{Code: CodeUnsupported, File: name, Message: "this is named as an ETW trace; this version does not read traces: upload UMDH logs of the process"}
	}
	return "", &Error{Code: CodeUnknown, File: name, Message: "the format is not known; heapdrift reads UMDH logs and differences, also as zip, gz or zst"}
}
