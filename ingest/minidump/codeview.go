package minidump

import "fmt"

// A codeView is what a CodeView record says of a PDB. There are two kinds:
//
//	RSDS   Signature u32 0x00, Guid 0x04, Age u32 0x14, PdbFileName 0x18   UTF-8, zero-terminated
//	NB10   Signature u32 0x00, Offset u32 0x04, TimeDateStamp u32 0x08, Age u32 0x0C, PdbFileName 0x10   in the code page of the build
type codeView struct {
	pdb, id string
	age     uint32
	known   bool
}

func parseCodeView(b []byte) codeView {
	switch {
	case len(b) > 0x18 && string(b[:4]) == "RSDS":
		age := le.Uint32(b[0x14:])
		id := fmt.Sprintf("%08X%04X%04X%X%X", le.Uint32(b[0x04:]), le.Uint16(b[0x08:]),
			le.Uint16(b[0x0A:]), b[0x0C:0x14], age)
		return codeView{narrow(b[0x18:]), id, age, true}
	case len(b) > 0x10 && string(b[:4]) == "NB10":
		age := le.Uint32(b[0x0C:])
		return codeView{narrow(b[0x10:]), fmt.Sprintf("%08X%X", le.Uint32(b[0x08:]), age), age, true}
	}
	return codeView{}
}

// codeViewRecord reads the record that a module refers to: its size u32 and its RVA u32.
func (d *Dump) codeViewRecord(w *names, location []byte, entry int64) codeView {
	size, at := int64(le.Uint32(location)), int64(le.Uint32(location[4:]))
	if size == 0 || at == 0 {
		return codeView{}
	}
	if d.src.room(at, size) < size {
		w.problems.add(CodeBadName, entry, at, 1, "a CodeView record lies outside the file")
		return codeView{}
	}
	b, err := w.bytes(at, int(min(size, maxCodeView)))
	if err != nil {
		w.problems.failed(at, err)
		return codeView{}
	}
	return parseCodeView(b)
}

// codeViewOf asks the image at an address of memory, as the loader mapped it (winnt.h IMAGE_x):
//
//	IMAGE_DOS_HEADER        e_magic "MZ" 0x00, e_lfanew u32 0x3C
//	IMAGE_NT_HEADERS        Signature "PE\0\0" 0x00, FileHeader 0x04, OptionalHeader 0x18: Magic u16 0x10B or 0x20B,
//	                        NumberOfRvaAndSizes u32 at 0x5C or 0x6C of it, then directories of VirtualAddress u32 and Size u32
//	directory 6 (debug)     IMAGE_DEBUG_DIRECTORY, 28 bytes each: Type u32 0x0C, SizeOfData u32 0x10, AddressOfRawData u32 0x14
//
// Writers leave out the record where they cannot read the file, as of 32-bit programs in 64-bit dumps.
func codeViewOf(m reader, base uint64) codeView {
	var head [0x18 + 0x70 + 7*8]byte
	if !has(m, head[:0x40], base) || string(head[:2]) != "MZ" {
		return codeView{}
	}
	nt := base + uint64(le.Uint32(head[0x3C:]))
	if !has(m, head[:], nt) || string(head[:4]) != "PE\x00\x00" {
		return codeView{}
	}
	optional := head[0x18:]
	var directories []byte
	switch le.Uint16(optional) {
	case 0x10B:
		directories = optional[0x5C:]
	case 0x20B:
		directories = optional[0x6C:]
	}
	const debug = 6
	if directories == nil || le.Uint32(directories) <= debug {
		return codeView{}
	}
	entry := directories[4+debug*8:]
	at, size := base+uint64(le.Uint32(entry)), le.Uint32(entry[4:])
	const (
		entrySize  = 28
		maxEntries = 64 // linkers write less than ten
		typeCV     = 2
	)
	for range min(size/entrySize, maxEntries) {
		var e [entrySize]byte
		if !has(m, e[:], at) {
			return codeView{}
		}
		if at += entrySize; le.Uint32(e[0x0C:]) != typeCV {
			continue
		}
		record := make([]byte, min(le.Uint32(e[0x10:]), maxCodeView))
		n, _ := m.ReadMemory(record, base+uint64(le.Uint32(e[0x14:]))) // what is missing is behind the name, mostly
		if v := parseCodeView(record[:n]); v.known {
			return v
		}
	}
	return codeView{}
}

// has fills p with memory, or reports that not all of it is there.
func has(m reader, p []byte, addr uint64) bool {
	n, err := m.ReadMemory(p, addr)
	return err == nil && n == len(p)
}

// A reader reads the memory of a process.
type reader interface {
	ReadMemory(p []byte, addr uint64) (int, error)
}

// ImagePDB reads which PDB belongs to the image at base, in the memory of any process. The results are as in Module; ok
// is false where the image does not tell.
func ImagePDB(m interface {
	ReadMemory(p []byte, addr uint64) (int, error)
}, base uint64) (pdb, debugID string, age uint32, ok bool) {
	v := codeViewOf(m, base)
	return v.pdb, v.id, v.age, v.known
}
