package petest

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var le = binary.LittleEndian

// Machines of images, IMAGE_FILE_MACHINE_*.
const (
	X86   uint16 = 0x14C
	X64   uint16 = 0x8664
	ARM64 uint16 = 0xAA64
)

// An Image is what an EXE or DLL holds. Its tables are put into the sections that are named .rdata and .pdata, which
// must have room for them.
type Image struct {
	Machine   uint16 // one of the constants; 0 for X64
	DLL       bool
	Base      uint64 // preferred base address; 0 for 0x140000000, or 0x400000 for x86
	Timestamp uint32 // TimeDateStamp
	Entry     uint32 // RVA
	Sections  []Section

	PDB      string // path of the PDB; "": no debug directory
	GUID     [16]byte
	Age      uint32
	Portable bool // the PDB is a portable one
	NB10     bool // reference of a linker before Visual C++ 7; the GUID's first four bytes are the signature

	Name      string // in the export directory
	Exports   []Export
	Functions []Function // of .pdata; ignored for x86

	// Directories replace the data directories that would be written: RVA and size by index. Tests use it for images
	// that no linker writes.
	Directories map[int][2]uint32
}

// A Section is a section's header and contents. Content may be shorter than Size: the rest is in memory only.
type Section struct {
	Name            string
	RVA             uint32
	Size            uint32
	Characteristics uint32
	Content         []byte
}

// An Export has a name, an ordinal, or both. Ordinals count from 1; 0 gives it the next.
type Export struct {
	Name      string
	Ordinal   uint32
	RVA       uint32
	Forwarder string // "NTDLL.RtlAllocateHeap": no RVA
}

// A Function is an entry of .pdata, from Begin up to but not including End.
type Function struct {
	Begin, End uint32
	Parent     uint32 // x64: Begin of the function that this is a part of; 0: none
	Full       bool   // ARM64: unwind data in .xdata instead of the entry
}

const (
	fileAlignment    = 0x200
	sectionAlignment = 0x1000
	headerSize       = 0x400
)

// SizeOfImage is the end of the last section in bytes, rounded up to pages.
func (i *Image) SizeOfImage() uint32 {
	var end uint32
	for _, s := range i.Sections {
		end = max(end, s.RVA+s.Size)
	}
	return (end + sectionAlignment - 1) &^ (sectionAlignment - 1)
}

// A layout is an image while it is put together.
type layout struct {
	*Image
	sections []Section
	bits     int
	dirs     [16][2]uint32 // RVA and size
}

// Bytes returns the image as a file.
func (i *Image) Bytes() ([]byte, error) {
	l := &layout{Image: i, bits: 64}
	if i.Machine == X86 {
		l.bits = 32
	}
	if len(i.Sections) > 16 {
		return nil, errors.New("petest: the headers have room for 16 sections")
	}
	for _, s := range i.Sections {
		if len(s.Content) > int(s.Size) {
			return nil, fmt.Errorf("petest: the content of %s is larger than the section", s.Name)
		}
		s.Content = append([]byte(nil), s.Content...)
		l.sections = append(l.sections, s)
	}
	for _, part := range []func() error{l.debug, l.exports, l.pdata} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	for index, d := range i.Directories {
		l.dirs[index] = d
	}
	return l.file(), nil
}

// place puts a table behind what the section has and returns its RVA.
func (l *layout) place(section string, content []byte) (uint32, error) {
	for k := range l.sections {
		s := &l.sections[k]
		if s.Name != section {
			continue
		}
		s.Content = append(s.Content, make([]byte, -len(s.Content)&7)...)
		rva := s.RVA + uint32(len(s.Content))
		if s.Content = append(s.Content, content...); len(s.Content) > int(s.Size) {
			return 0, fmt.Errorf("petest: %s has %d bytes and needs %d", section, s.Size, len(s.Content))
		}
		return rva, nil
	}
	return 0, fmt.Errorf("petest: the image has no section %s for its tables", section)
}

// next is the RVA that place will return.
func (l *layout) next(section string) uint32 {
	for _, s := range l.sections {
		if s.Name == section {
			return s.RVA + uint32(len(s.Content)+7)&^7
		}
	}
	return 0
}

// file writes the headers and the sections.
func (l *layout) file() []byte {
	const peOffset = 0x80
	b := append([]byte(nil), make([]byte, headerSize)...)
	copy(b, "MZ")
	le.PutUint32(b[0x3C:], peOffset)
	h := b[peOffset:]
	copy(h, "PE\x00\x00")
	machine, base := l.Machine, l.base()
	if machine == 0 {
		machine = X64
	}
	optional := 112 + 128
	if l.bits == 32 {
		optional = 96 + 128
	}
	le.PutUint16(h[4:], machine)
	le.PutUint16(h[6:], uint16(len(l.sections)))
	le.PutUint32(h[8:], l.Timestamp)
	le.PutUint16(h[20:], uint16(optional))
	characteristics := uint16(0x22) // executable, large addresses
	if l.DLL {
		characteristics |= 0x2000
	}
	le.PutUint16(h[22:], characteristics)

	o := h[24:]
	le.PutUint16(o, 0x20B)
	le.PutUint32(o[16:], l.Entry)
	le.PutUint32(o[32:], sectionAlignment)
	le.PutUint32(o[36:], fileAlignment)
	le.PutUint16(o[40:], 6) // operating system and subsystem version
	le.PutUint16(o[48:], 6)
	le.PutUint32(o[56:], l.SizeOfImage())
	le.PutUint32(o[60:], headerSize)
	le.PutUint16(o[68:], 3) // console
	le.PutUint16(o[70:], 0x8160)
	if l.bits == 32 {
		le.PutUint16(o, 0x10B)
		le.PutUint32(o[28:], uint32(base))
		for _, at := range []int{72, 80} { // reserved sizes of stack and heap
			le.PutUint32(o[at:], 0x100000)
			le.PutUint32(o[at+4:], 0x1000)
		}
	} else {
		le.PutUint64(o[24:], base)
		for _, at := range []int{72, 88} {
			le.PutUint64(o[at:], 0x100000)
			le.PutUint64(o[at+8:], 0x1000)
		}
	}
	le.PutUint32(o[optional-132:], 16)
	for i, d := range l.dirs {
		le.PutUint32(o[optional-128+8*i:], d[0])
		le.PutUint32(o[optional-124+8*i:], d[1])
	}
	table := peOffset + 24 + optional
	for i, s := range l.sections {
		raw := (len(s.Content) + fileAlignment - 1) &^ (fileAlignment - 1)
		h := b[table+40*i:]
		copy(h[:8], s.Name)
		le.PutUint32(h[8:], s.Size)
		le.PutUint32(h[12:], s.RVA)
		le.PutUint32(h[16:], uint32(raw))
		if raw > 0 {
			le.PutUint32(h[20:], uint32(len(b)))
		}
		le.PutUint32(h[36:], s.Characteristics)
		b = append(append(b, s.Content...), make([]byte, raw-len(s.Content))...)
	}
	return b
}

// base is where the image wants to be loaded.
func (i *Image) base() uint64 {
	switch {
	case i.Base != 0:
		return i.Base
	case i.Machine == X86:
		return 0x400000
	}
	return 0x140000000
}
