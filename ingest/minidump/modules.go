package minidump

import "fmt"

// A Module is an image that was loaded (MINIDUMP_MODULE, 108 bytes):
//
//	BaseOfImage u64        0x00
//	SizeOfImage u32        0x08
//	CheckSum u32           0x0C
//	TimeDateStamp u32      0x10
//	ModuleNameRva u32      0x14
//	VersionInfo            0x18   VS_FIXEDFILEINFO, 52 bytes: dwSignature 0xFEEF04BD, dwStrucVersion, dwFileVersionMS 0x20,
//	                              dwFileVersionLS 0x24, dwProductVersionMS 0x28, dwProductVersionLS 0x2C, …
//	CvRecord               0x4C   DataSize u32, Rva u32
//	MiscRecord             0x54
//	Reserved0, 1 u64       0x5C
type Module struct {
	Path       string
	Base, Size uint64
	Checksum   uint32 // CheckSum of the image's header
	Timestamp  uint32 // of the image's header: seconds since 1970, or a hash of a reproducible build
	// FileVersion is "10.0.19041.1", "" where the dump does not say. For libraries of Windows 10 and 11 some writers
	// record 6.2 as its first half: Windows reports that version to programs that are not made for 10 (seen of dbgcore
	// 10.0.17134 to 22621). ProductVersion is right.
	FileVersion    string
	ProductVersion string
	PDB            string // path or name as the linker recorded it
	DebugID        string // GUID as 32 upper-case hex digits and the age in hex, or time stamp and age; "" if unknown
	Age            uint32
	// FromImage says that PDB and DebugID are of the image in the dump's memory: the list of modules does not have them.
	FromImage bool
}

const (
	moduleSize       = 108
	versionSignature = 0xFEEF04BD
)

// Modules reads the images that were loaded. Where the list does not name the PDB of one, its image in memory is asked.
// A 64-bit dump of a 32-bit process has the program twice, as both of its loaders list it, and the ntdll.dll of each.
func (d *Dump) Modules() ([]Module, error) {
	p := &problems{stream: StreamModuleList}
	s, ok := d.stream(StreamModuleList)
	if !ok {
		p.add(CodeNoStream, -1, 0, 1, "the dump has no list of modules")
		return nil, p.err()
	}
	l := d.plainList(s, moduleSize, maxModules, p)
	names, modules := d.names(p), []Module(nil)
	for i, e := range d.entries(l, p) {
		m := Module{
			Path:      names.at(int64(le.Uint32(e[0x14:])), i),
			Base:      le.Uint64(e),
			Size:      uint64(le.Uint32(e[0x08:])),
			Checksum:  le.Uint32(e[0x0C:]),
			Timestamp: le.Uint32(e[0x10:]),
		}
		if le.Uint32(e[0x18:]) == versionSignature {
			m.FileVersion, m.ProductVersion = version(e[0x20:]), version(e[0x28:])
		}
		record := d.codeViewRecord(names, e[0x4C:], i)
		listed := record.known
		if !listed {
			record = codeViewOf(d.memory, m.Base)
		}
		if record.known && names.afford(int64(len(record.pdb)), i, l.at+i*moduleSize) {
			m.PDB, m.DebugID, m.Age, m.FromImage = record.pdb, record.id, record.age, !listed
		}
		modules = append(modules, m)
	}
	return modules, p.err()
}

// version is the pair of numbers of VS_FIXEDFILEINFO: the high halves first.
func version(b []byte) string {
	high, low := le.Uint32(b), le.Uint32(b[4:])
	if high == 0 && low == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d", high>>16, high&0xFFFF, low>>16, low&0xFFFF)
}

// An UnloadedModule is an image that was there before (MINIDUMP_UNLOADED_MODULE, 24 bytes):
//
//	BaseOfImage u64    0x00
//	SizeOfImage u32    0x08
//	CheckSum u32       0x0C
//	TimeDateStamp u32  0x10
//	ModuleNameRva u32  0x14
//
// Windows remembers the last 64 of a process.
type UnloadedModule struct {
	Name       string
	Base, Size uint64
	Checksum   uint32 // CheckSum of the image's header
	Timestamp  uint32 // TimeDateStamp of the image's header
}

const (
	unloadedHeader = 12
	unloadedSize   = 24
)

// Unloaded reads the images that were unloaded; a dump without such a list has none.
func (d *Dump) Unloaded() ([]UnloadedModule, error) {
	p := &problems{stream: StreamUnloadedModules}
	s, ok := d.stream(StreamUnloadedModules)
	if !ok {
		return nil, nil
	}
	l := d.sizedList(s, unloadedHeader, unloadedSize, maxModules, p)
	names, modules := d.names(p), []UnloadedModule(nil)
	for i, e := range d.entries(l, p) {
		modules = append(modules, UnloadedModule{
			Name:      names.at(int64(le.Uint32(e[0x14:])), i),
			Base:      le.Uint64(e),
			Size:      uint64(le.Uint32(e[0x08:])),
			Checksum:  le.Uint32(e[0x0C:]),
			Timestamp: le.Uint32(e[0x10:]),
		})
	}
	return modules, p.err()
}
