package minidump

import (
	"strings"

	"heapdrift/ingest/evidence"
)

// foreign are files that are taken for dumps, by their first bytes.
var foreign = []struct{ magic, code, message, do string }{
	{"PAGEDU64", CodeKernelDump, "this is a dump of the kernel of 64-bit Windows; heapdrift reads dumps of processes",
		"make one: procdump -ma PID"},
	{"PAGEDUMP", CodeKernelDump, "this is a dump of the kernel of 32-bit Windows; heapdrift reads dumps of processes",
		"make one: procdump -ma PID"},
	{"USERDU64", CodeOldUserDump, "this is a user dump in the format before minidumps",
		"convert it in WinDbg: .dump /ma NEW.dmp"},
	{"USERDUMP", CodeOldUserDump, "this is a user dump in the format before minidumps",
		"convert it in WinDbg: .dump /ma NEW.dmp"},
	{"HDMP", CodeOldUserDump, "this is a heap dump in a format before minidumps",
		"convert it in WinDbg: .dump /ma NEW.dmp"},
	{"MZ", CodeNotMinidump, "this is a program or a library of Windows, not a dump of a process", ""},
	{"\x7fELF", CodeNotMinidump, "this is an ELF file: a program or a core dump of Linux, not a dump of Windows", ""},
	{"\xcf\xfa\xed\xfe", CodeNotMinidump,
		"this is a Mach-O file: a program or a core dump of macOS, not a dump of Windows", ""},
	{"Microsoft C/C++ MSF 7.00", CodeNotMinidump, "this is a PDB: symbols, not a dump", ""},
	{"PK\x03\x04", CodeNotMinidump, "this is a zip archive", "unpack it first"},
	{"7z\xbc\xaf\x27\x1c", CodeNotMinidump, "this is a 7z archive", "unpack it first"},
	{"MSCF", CodeNotMinidump, "this is a cabinet", "unpack it first: expand FILE -F:* FOLDER"},
	{"\x1f\x8b", CodeNotMinidump, "this is packed with gzip", "unpack it first"},
	{"\x28\xb5\x2f\xfd", CodeNotMinidump, "this is packed with zstd", "unpack it first"},
	{"\xfd7zXZ\x00", CodeNotMinidump, "this is packed with xz", "unpack it first"},
}

// refuse says why a file that begins with head is not read; nil of a minidump.
func refuse(head []byte) error {
	e := &evidence.Error{Code: CodeNotMinidump}
	begin := string(head)
	for _, f := range foreign {
		if strings.HasPrefix(begin, f.magic) {
			e.Code, e.Message, e.Do = f.code, f.message, f.do
			return e
		}
	}
	switch {
	case Sniff(head):
		return nil
	case len(head) == 0:
		e.Message, e.Do = "the file is empty", "make or upload the dump again"
	case strings.Trim(begin, "\x00") == "":
		e.Message, e.Do = "the file begins with zeros: its header is written last, so the dump was not finished",
			"make it again on a disk with enough space"
	case strings.HasPrefix(begin, signature) && len(head) < headerSize:
		e.Code, e.Message, e.Do = CodeBadHeader, "the dump is cut short within its header", "make or upload it again"
	case strings.HasPrefix(begin, signature):
		e.Code, e.Offset, e.Message, e.Do = CodeBadHeader, 4,
			"the header begins like a minidump, but has another version", "make the dump again"
	default:
		e.Message = "this is not a minidump: it does not begin with MDMP"
	}
	return e
}
