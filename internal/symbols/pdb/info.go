package pdb

import (
	"bytes"
	"fmt"
)

// A Format is the container of a PDB.
type Format string

// The containers.
const (
	FormatMSF  Format = "msf"
	FormatMSFZ Format = "msfz"
)

// A Quality says what a PDB can tell of an address.
type Quality string

// The qualities, best first.
const (
	QualityPrivate Quality = "private" // procedures with source lines
	QualityPublic  Quality = "public"  // names
	QualityNone    Quality = "none"    // nothing
)

// Info says which image a PDB belongs to and what it holds.
type Info struct {
	GUID        [16]byte
	InfoAge     uint32 // of the info stream; it grows when a PDB is stripped
	Age         uint32 // of the DBI stream: what images name and symbol servers file by
	DebugID     string // GUID as 32 upper-case hex digits and Age in upper-case hex: its folder in a symbol store
	Machine     uint16 // IMAGE_FILE_MACHINE_*
	Bits        int    // 32 or 64; 0 unknown
	Format      Format
	PageSize    uint32 // of the MSF file, in bytes; 0 for MSFZ
	Stripped    bool   // private symbols were taken out
	FastLink    bool   // linked with /DEBUG:FASTLINK: procedures and lines stayed in object files
	NoSections  bool   // without section headers: RVAs need those of the image, see UseSections
	OMAP        bool   // the image was reordered after linking
	TypesOnly   bool   // without symbols: a compiler's PDB
	Managed     bool   // describes .NET code
	Unfinished  bool   // the link that writes it was interrupted, or is not over yet
	SizeOfImage uint32 // end of the last section, rounded up to 4096 bytes; 0 unknown
	Sections    []Section
	Quality     Quality
	Note        string // what limits the PDB, in sentences for users; "" for nothing
}

// Features follow the named streams of the info stream (pdb-rs docs/pdb/pdbi_stream.md).
const (
	featureVC110       = 20091201
	featureVC140       = 20140508
	featureMinimalInfo = 0x494E494D // FASTLINK
)

const (
	streamInfo = 1
	streamTPI  = 2
	streamDBI  = 3
	streamIPI  = 4
)

// readInfo reads the info stream:
//
//	field        offset  size
//	version      0       4     20000404
//	signature    4       4     seconds since 1970
//	age          8       4
//	GUID         12      16
//	names        28      n     u32 bytes and the texts
//	map                        u32 count, u32 capacity, two bit vectors {u32 words, words}, count × {u32 text, u32 stream}
//	features                   u32 each
func (f *File) readInfo() error {
	s, err := f.c.open(streamInfo)
	if err != nil {
		return err
	}
	if s.size() < 28 {
		return fail(CodeTruncated, streamInfo, s.size(), "the info stream ends inside its header")
	}
	b, err := s.view(0, int(min(s.size(), 16<<20)))
	if err != nil {
		return err
	}
	f.info.InfoAge = le.Uint32(b[8:])
	copy(f.info.GUID[:], b[12:])
	c := cursor{b: b, at: 28}
	texts := c.take(int(c.u32()))
	count := c.u32()
	c.u32()
	c.take(int(c.u32()) * 4)
	c.take(int(c.u32()) * 4)
	f.named = map[string]int{}
	for ; count > 0 && !c.short; count-- {
		text, number := c.u32(), c.u32()
		if int64(text) < int64(len(texts)) {
			if name, _, ok := bytes.Cut(texts[text:], []byte{0}); ok {
				f.named[string(name)] = int(number)
			}
		}
	}
	if c.short {
		return nil // what identifies the PDB is there; names and features are lost with the stream's end
	}
	c.u32() // count of names, which older writers leave out; no feature is as small
	for c.at -= 4; len(b)-c.at >= 4; {
		switch c.u32() {
		case featureVC110, featureVC140:
			f.ids = true
		case featureMinimalInfo:
			f.info.FastLink = true
		}
	}
	return nil
}

// debugID prints a GUID as Windows does, whose first three fields are numbers.
func debugID(g [16]byte, age uint32) string {
	return fmt.Sprintf("%08X%04X%04X%X%X", le.Uint32(g[0:]), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:], age)
}

// Machines, from winnt.h.
const (
	machineI386    = 0x14C
	machineARM     = 0x1C0
	machineARMNT   = 0x1C4
	machineIA64    = 0x200
	machineAMD64   = 0x8664
	machineARM64   = 0xAA64
	machineARM64EC = 0xA641
	machineARM64X  = 0xA64E
	machineCEE     = 0xC0EE
)

func bitsOf(machine uint16) int {
	switch machine {
	case machineI386, machineARM, machineARMNT:
		return 32
	case machineIA64, machineAMD64, machineARM64, machineARM64EC, machineARM64X:
		return 64
	}
	return 0
}

// isUnfinished tells a PDB that a linker has begun: it reserves the streams first and fills in types, modules and
// section headers as it goes. A compiler's PDB has types from its first commit on.
func (f *File) isUnfinished() bool {
	if !f.info.TypesOnly {
		return len(f.modules) == 0 && f.dbi.publics == noStream && f.dbi.sections == noStream
	}
	const header = 56 // of the types' stream, which is all of it where there are none
	if f.c.streams() <= streamTPI {
		return true
	}
	types, err := f.c.open(streamTPI)
	return err == nil && types.size() <= header
}

// linesAre reports whether any module has source lines, in the form of today and in that of Visual C++ 7.1.
func (f *File) linesAre() (today, old bool) {
	for _, m := range f.modules {
		if m.stream != noStream {
			today = today || m.c13 > 0
			old = old || m.c11 > 0
		}
	}
	return today, old
}

// judge says what the PDB is good for.
func (f *File) judge() {
	i := &f.info
	lines, old := f.linesAre()
	i.Quality = QualityNone
	switch {
	case lines && !i.FastLink && !i.Managed:
		i.Quality = QualityPrivate
	case f.dbi.publics != noStream || len(f.modules) > 0:
		i.Quality = QualityPublic
	}
	note := func(s string) {
		if i.Note != "" {
			i.Note += " "
		}
		i.Note += s
	}
	i.Unfinished = f.isUnfinished()
	switch {
	case i.Unfinished:
		i.Quality = QualityNone
		note("The link that writes this PDB was interrupted, or is not over: nothing of the image is in it. Link again.")
	case i.TypesOnly:
		i.Quality = QualityNone
		note("This is a compiler's PDB, which holds types only: give the PDB that the linker writes.")
	case i.Managed:
		i.Quality = QualityNone
		note("This PDB describes .NET code: native addresses cannot be found in it.")
	case i.FastLink:
		note("The image was linked with /DEBUG:FASTLINK, so that procedures and lines are in object files of the build machine: relink with /DEBUG:FULL, or run mspdbcmf.exe on the PDB.")
	case i.Stripped || !lines && !old:
		// A public PDB: its quality says what it lacks.
	case !lines:
		i.Quality = QualityPublic
		note("Its source lines are in the form of Visual C++ 7.1 and older, which is not read.")
	}
	if i.NoSections && !i.TypesOnly && !i.Unfinished {
		note("It has no section headers, as NGEN makes PDBs: addresses need the image too.")
	}
}
