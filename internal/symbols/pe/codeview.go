package pe

import (
	"bytes"
	"fmt"
	"strings"
)

// CodeView is an image's reference to its PDB: the record that the debug directory's entry of type
// IMAGE_DEBUG_TYPE_CODEVIEW points to.
//
//	RSDS: "RSDS", GUID (16), Age (4), path, NUL          linkers since Visual C++ 7
//	NB10: "NB10", offset (4), Signature (4), Age (4), path, NUL
type CodeView struct {
	Format    string // RSDS or NB10
	Path      string // of the PDB, as the linker wrote it; usually UTF-8
	GUID      [16]byte
	Signature uint32 // of NB10: when the PDB was made
	Age       uint32
	Portable  bool // the PDB is a portable one (.NET)
	Embedded  bool // a portable PDB is inside the image
}

// DebugID is the PDB's identity: the GUID as it is usually printed, 32 upper-case hexadecimal digits, and the age in
// hexadecimal. Of NB10 it is the signature's 8 digits and the age.
func (c CodeView) DebugID() string {
	if c.Format == "NB10" {
		return fmt.Sprintf("%08X%X", c.Signature, c.Age)
	}
	return fmt.Sprintf("%s%X", c.guid(), c.Age)
}

// guid prints Data1, Data2 and Data3 as numbers and Data4 as bytes.
func (c CodeView) guid() string {
	return fmt.Sprintf("%08X%04X%04X%X", le.Uint32(c.GUID[:]), le.Uint16(c.GUID[4:]), le.Uint16(c.GUID[6:]), c.GUID[8:])
}

// FileName is what follows the last slash or backslash of Path. Nothing before it is of use on another machine.
func (c CodeView) FileName() string {
	return c.Path[strings.LastIndexAny(c.Path, `/\`)+1:]
}

const (
	debugCodeView = 2
	debugEmbedded = 17     // IMAGE_DEBUG_TYPE_EMBEDDED_PORTABLE_PDB
	portableMinor = 0x504D // MinorVersion of a CodeView entry for a portable PDB
	codeViewMax   = 64 << 10
	debugEntryMax = 256 // images have up to a dozen
)

// CodeView returns the first reference to a PDB; false where the image has none. Images that .NET compiled ahead of
// time have two, the one for native code first.
func (f *File) CodeView() (CodeView, bool, error) {
	dir := f.dirs[dirDebug]
	if dir.rva == 0 || dir.size == 0 {
		return CodeView{}, false, nil
	}
	at, _ := f.locate(dir.rva)
	table, err := f.readRVA(dir.rva, min(int64(dir.size), debugEntryMax*28))
	if err != nil {
		return CodeView{}, false, err
	}
	if len(table) < 28 {
		return CodeView{}, false, fail(CodeBadDebug, at, "the debug directory at RVA %#x is not in the file", dir.rva)
	}
	var found CodeView
	var embedded bool
	var problem error
	for e := range len(table) / 28 {
		entry := table[e*28 : e*28+28]
		switch le.Uint32(entry[12:]) { // Type
		case debugEmbedded:
			embedded = true
		case debugCodeView:
			if found.Format != "" {
				continue
			}
			c, err := f.codeView(entry, at+int64(e)*28)
			if err != nil {
				problem = err
				continue
			}
			found = c
		}
	}
	if found.Format != "" {
		found.Embedded = embedded
		return found, true, nil
	}
	return CodeView{}, false, problem
}

// codeView reads the record of a debug directory entry, which lies at an offset of the file.
func (f *File) codeView(entry []byte, at int64) (CodeView, error) {
	size := min(int64(le.Uint32(entry[16:])), codeViewMax) // SizeOfData
	// PointerToRawData is where tools look. It is 0 or stale in images that were rebuilt from memory.
	record, err := f.readSome(int64(le.Uint32(entry[24:])), size)
	if err != nil {
		return CodeView{}, err
	}
	if !isCodeView(record) {
		if record, err = f.readRVA(le.Uint32(entry[20:]), size); err != nil { // AddressOfRawData
			return CodeView{}, err
		}
	}
	var c CodeView
	switch {
	case !isCodeView(record):
		return c, fail(CodeBadDebug, at, "the CodeView entry of the debug directory points to no RSDS or NB10 record")
	case record[0] == 'R':
		c = CodeView{Format: "RSDS", GUID: [16]byte(record[4:20]), Age: le.Uint32(record[20:])}
		record = record[24:]
	default:
		c = CodeView{Format: "NB10", Signature: le.Uint32(record[8:]), Age: le.Uint32(record[12:])}
		record = record[16:]
	}
	path, _, _ := bytes.Cut(record, []byte{0})
	c.Path = string(path)
	c.Portable = le.Uint16(entry[10:]) == portableMinor
	return c, nil
}

// isCodeView tells whether the record's fixed part is there.
func isCodeView(record []byte) bool {
	return len(record) >= 24 && string(record[:4]) == "RSDS" || len(record) >= 16 && string(record[:4]) == "NB10"
}
