package minidumptest

import "encoding/binary"

// An Image is an image in memory, as the loader maps it: headers and a debug directory, and zeros for the rest.
type Image struct {
	Bits      int    // 32 or 64
	Size      uint32 // SizeOfImage in bytes
	Timestamp uint32 // TimeDateStamp
	PDB       string // "" for no debug directory
	GUID      [16]byte
	Age       uint32
	// LargeAddressAware is what the linker's /LARGEADDRESSAWARE sets.
	LargeAddressAware bool
}

// Bytes is the first 4 KB of the image.
func (i Image) Bytes() []byte {
	b := make([]byte, 0x1000)
	u16 := func(at int, v uint16) { binary.LittleEndian.PutUint16(b[at:], v) }
	u32 := func(at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
	const nt, debug, record = 0x80, 0x300, 0x400
	copy(b, "MZ")
	u32(60, nt)
	copy(b[nt:], "PE\x00\x00")
	u32(nt+8, i.Timestamp)
	optional := nt + 24
	machine, magic, size, directories := uint16(0x8664), uint16(0x20B), uint16(240), optional+112
	if i.Bits == 32 {
		machine, magic, size, directories = 0x14C, 0x10B, 224, optional+96
	}
	u16(nt+4, machine)
	u16(nt+20, size)
	if i.LargeAddressAware {
		u16(nt+22, 0x20)
	}
	u16(optional, magic)
	u32(optional+56, i.Size)
	u32(directories-4, 16)
	if i.PDB == "" {
		return b
	}
	u32(directories+6*8, debug)
	u32(directories+6*8+4, 2*28)
	u32(debug+12, 13) // a POGO entry, as linkers write beside
	view := Module{PDB: i.PDB, GUID: i.GUID, Age: i.Age}.codeView()
	u32(debug+28+12, 2)
	u32(debug+28+16, uint32(len(view)))
	u32(debug+28+20, record)
	copy(b[record:], view)
	return b
}
