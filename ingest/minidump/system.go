package minidump

import (
	"fmt"

	"heapdrift/ingest/evidence"
)

// An Arch is a processor architecture, as the process sees it.
type Arch uint16

// The architectures (PROCESSOR_ARCHITECTURE_x of winnt.h, plus 1, so that the zero value is unknown).
const (
	ArchUnknown Arch = 0
	ArchX86     Arch = 1
	ArchARM     Arch = 6
	ArchIA64    Arch = 7
	ArchX64     Arch = 10
	ArchARM64   Arch = 13
)

var archs = map[Arch]struct {
	name string
	bits uint8
}{
	ArchX86: {"x86", 32}, ArchARM: {"ARM", 32}, ArchIA64: {"IA64", 64}, ArchX64: {"x64", 64}, ArchARM64: {"ARM64", 64},
}

// String is "x86", "x64", "ARM" or "ARM64".
func (a Arch) String() string {
	switch known, ok := archs[a]; {
	case ok:
		return known.name
	case a == ArchUnknown:
		return "unknown"
	}
	return fmt.Sprintf("architecture %d", uint16(a)-1)
}

// A Product says which edition of Windows it was (VER_NT_x of winnt.h).
type Product uint8

// The products.
const (
	ProductWorkstation      Product = 1
	ProductDomainController Product = 2
	ProductServer           Product = 3
)

// String is "workstation", "domain controller", "server" or "".
func (p Product) String() string {
	return map[Product]string{ProductWorkstation: "workstation", ProductDomainController: "domain controller",
		ProductServer: "server"}[p]
}

// A System is the machine and its Windows (MINIDUMP_SYSTEM_INFO, 56 bytes):
//
//	ProcessorArchitecture u16  0x00
//	ProcessorLevel u16         0x02
//	ProcessorRevision u16      0x04
//	NumberOfProcessors u8      0x06
//	ProductType u8             0x07
//	MajorVersion u32           0x08   of Windows
//	MinorVersion u32           0x0C
//	BuildNumber u32            0x10
//	PlatformId u32             0x14   2 = Windows NT
//	CSDVersionRva u32          0x18   name of the service pack
//	SuiteMask u16              0x1C
//	Cpu                        0x20   24 bytes
type System struct {
	Arch         Arch
	Bits         uint8  // of the process as the dump shows it: a 64-bit dump may be of a 32-bit process; 0 unknown
	Major, Minor uint32 // version of Windows
	Build        uint32 // number of the build of Windows
	Processors   uint8
	Product      Product
	ServicePack  string // "Service Pack 2"
	platform     uint32
	known        bool
}

const (
	systemInfoSize  = 56
	systemInfoLeast = 0x1C
	platformNT      = 2
)

func (d *Dump) readSystem(p *problems) {
	s, ok := d.stream(StreamSystemInfo)
	if !ok {
		p.add(CodeNoStream, -1, 0, 1, "the dump does not say what system it is of")
		return
	}
	b, ok := d.head(s, systemInfoSize, systemInfoLeast, p)
	if !ok {
		return
	}
	d.system = System{
		Arch:        Arch(le.Uint16(b) + 1),
		Major:       le.Uint32(b[0x08:]),
		Minor:       le.Uint32(b[0x0C:]),
		Build:       le.Uint32(b[0x10:]),
		Processors:  b[6],
		Product:     Product(b[7]),
		ServicePack: d.names(p).at(int64(le.Uint32(b[0x18:])), -1),
		platform:    le.Uint32(b[0x14:]),
		known:       true,
	}
	d.system.Bits = archs[d.system.Arch].bits
}

// platforms are the values of PlatformId but that of Windows NT: those of winnt.h and of Breakpad (minidump_format.h).
var platforms = map[uint32]string{
	0: "Win32s", 1: "Windows 95, 98 or Me", 3: "Windows CE", 0x8000: "Unix", 0x8101: "macOS", 0x8102: "iOS",
	0x8201: "Linux", 0x8202: "Solaris",
	0x8203: "Android", 0x8204: "PlayStation 3", 0x8205: "Native Client", 0x8206: "Fuchsia",
}

// refuseSystem says why a dump of a system is not read; nil of Windows NT and where the dump does not say.
func refuseSystem(s System) error {
	if !s.known || s.platform == platformNT {
		return nil
	}
	name, ok := platforms[s.platform]
	if !ok {
		name = fmt.Sprintf("an unknown system (platform %#x)", s.platform)
	}
	return &evidence.Error{Code: CodeOtherSystem, Message: "this minidump is of a process on " + name +
		", not on Windows; heapdrift reads dumps of Windows processes"}
}
