package pe

import "fmt"

// The values of Machine that Windows runs on today or ran on long.
const (
	MachineI386    uint16 = 0x14C
	MachineARMNT   uint16 = 0x1C4
	MachineAMD64   uint16 = 0x8664
	MachineARM64   uint16 = 0xAA64
	MachineARM64EC uint16 = 0xA641
	MachineARM64X  uint16 = 0xA64E
)

// Info is what the headers say. Addresses and sizes are in bytes.
type Info struct {
	Machine     uint16
	Bits        int    // 32 for PE32, 64 for PE32+
	Timestamp   uint32 // TimeDateStamp
	SizeOfImage uint32
	Checksum    uint32
	ImageBase   uint64 // preferred base address
	EntryPoint  uint32 // RVA; 0 for none
	IsDLL       bool
	Managed     bool // has a CLR header; its code may be IL
	Hybrid      bool // ARM64EC or ARM64X: code of two machines in one image
	Sections    []Section
}

// ImageKey is the middle folder of the image's path in a symbol store: the time stamp as %08X and SizeOfImage as %x.
func (i Info) ImageKey() string { return fmt.Sprintf("%08X%x", i.Timestamp, i.SizeOfImage) }

// Arch names the machine: x86, x64, arm64, arm; "" for others.
func (i Info) Arch() string {
	switch i.Machine {
	case MachineI386:
		return "x86"
	case MachineAMD64:
		return "x64"
	case MachineARM64, MachineARM64EC, MachineARM64X:
		return "arm64"
	case MachineARMNT:
		return "arm"
	}
	return ""
}

// IMAGE_SCN_*
const (
	sectionCode       = 0x00000020
	sectionExecutable = 0x20000000
)

// A Section is a row of the section table.
type Section struct {
	Name            string // as written: names over 8 bytes that MinGW keeps elsewhere read "/123"
	RVA             uint32
	Size            uint32 // bytes in memory
	Offset          uint32 // in the file
	RawSize         uint32 // bytes in the file
	Characteristics uint32
}

// Executable reports whether the section holds code.
func (s *Section) Executable() bool {
	return s.Characteristics&(sectionCode|sectionExecutable) != 0
}

// span is the section's size in memory. Old linkers leave VirtualSize 0 and mean SizeOfRawData.
func (s *Section) span() uint32 {
	if s.Size == 0 {
		return s.RawSize
	}
	return s.Size
}

func (s *Section) contains(rva uint32) bool {
	return rva >= s.RVA && rva-s.RVA < s.span()
}
