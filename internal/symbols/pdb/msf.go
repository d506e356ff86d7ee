package pdb

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

var le = binary.LittleEndian

// A container is the file system around the streams.
type container interface {
	streams() int
	open(i int) (stream, error)
}

// A stream is a file in the container. What view returns is shared and must not be written to.
type stream interface {
	number() int
	size() int64
	view(off int64, n int) ([]byte, error)
	read(off int64, p []byte) error
}

const (
	magicMSF      = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"
	magicPDB2     = "Microsoft C/C++ program database 2.00\r\n\x1aJG"
	magicPortable = "BSJB"
	magicCabinet  = "MSCF"

	nilStream = 0xFFFFFFFF // size of a stream that was deleted
	noStream  = 0xFFFF     // number of a stream that is not there
)

// openContainer looks at the magic that begins the file.
func openContainer(src source) (container, Format, error) {
	head, err := src.bytes(0, int(min(src.size(), 64)))
	if err != nil {
		return nil, "", err
	}
	switch {
	case bytes.HasPrefix(head, []byte(magicMSF)):
		c, err := openMSF(src)
		return c, FormatMSF, err
	case bytes.HasPrefix(head, []byte(magicMSFZ)):
		c, err := openMSFZ(src)
		return c, FormatMSFZ, err
	case bytes.HasPrefix(head, []byte(magicPDB2)):
		return nil, "", fail(CodePDB2, -1, 0,
			"this is a PDB 2.00, as Visual C++ 6 and older write them: build with a newer compiler, or export the names to a .map file")
	case bytes.HasPrefix(head, []byte(magicPortable)):
		return nil, "", fail(CodePortable, -1, 0,
			"this is a portable PDB of .NET, it describes no native code: give the PDB that the C++ linker writes")
	case bytes.HasPrefix(head, []byte(magicCabinet)):
		return nil, "", fail(CodeCabinet, -1, 0,
			"this is a cabinet, as symbol stores keep compressed PDBs (.pd_): expand it first")
	case len(head) == 0:
		return nil, "", fail(CodeNotPDB, -1, 0, "the file is empty")
	case len(head) < len(magicMSF) && bytes.HasPrefix([]byte(magicMSF), head):
		return nil, "", fail(CodeTruncated, -1, int64(len(head)), "the file ends inside its first header")
	}
	return nil, "", fail(CodeNotPDB, -1, 0, "this is no PDB: it does not begin as one")
}

// An msf is an MSF 7.00 file:
//
//	field       offset  size  source: microsoft-pdb PDB/msf, pdb-rs docs/pdb/msf.md
//	magic       0       32
//	page size   32      4     a power of two
//	free map    36      4
//	pages       40      4     in the file; a claim
//	directory   44      4     bytes
//	(unused)    48      4
//	map         52      4×n   pages that list the pages of the directory
//
// Directory: u32 number of streams, u32 size of each, then the pages of each, u32 each.
type msf struct {
	src   source
	shift uint
	table []msfEntry
}

type msfEntry struct {
	bytes uint32
	pages []byte // u32 each
}

func openMSF(src source) (*msf, error) {
	head, err := src.bytes(0, 56)
	if err != nil {
		return nil, err
	}
	pageSize, dirBytes := le.Uint32(head[32:]), le.Uint32(head[44:])
	if bits.OnesCount32(pageSize) != 1 || pageSize < 128 || pageSize > 1<<20 {
		return nil, fail(CodeCorrupt, -1, 32, "a page size of %d bytes", pageSize)
	}
	if int64(dirBytes) > src.size() || dirBytes < 4 {
		return nil, fail(CodeTruncated, -1, 44, "a directory of %d bytes in a file of %d", dirBytes, src.size())
	}
	m := &msf{src: src, shift: uint(bits.TrailingZeros32(pageSize))}
	pages := m.pagesOf(dirBytes)
	mapPages, err := src.bytes(52, m.pagesOf(uint32(pages*4))*4)
	if err != nil {
		return nil, err
	}
	listing := &msfStream{m: m, at: -1, entry: msfEntry{uint32(pages * 4), mapPages}}
	list, err := listing.view(0, pages*4)
	if err != nil {
		return nil, err
	}
	directory := &msfStream{m: m, at: -1, entry: msfEntry{dirBytes, list}}
	dir, err := directory.view(0, int(dirBytes))
	if err != nil {
		return nil, err
	}
	return m, m.directory(dir)
}

func (m *msf) directory(dir []byte) error {
	n := int64(le.Uint32(dir))
	if n > int64(len(dir)-4)/4 || n > noStream {
		return fail(CodeCorrupt, -1, 44, "the directory of %d bytes cannot hold %d streams", len(dir), n)
	}
	sizes, pages := dir[4:4+n*4], dir[4+n*4:]
	m.table = make([]msfEntry, n)
	for i := range m.table {
		size := le.Uint32(sizes[i*4:])
		if size == nilStream {
			continue
		}
		count := m.pagesOf(size) * 4
		if count > len(pages) {
			return fail(CodeTruncated, i, 0, "the directory ends before the pages of the stream")
		}
		m.table[i] = msfEntry{size, pages[:count]}
		pages = pages[count:]
	}
	return nil
}

func (m *msf) pagesOf(n uint32) int { return int((int64(n) + 1<<m.shift - 1) >> m.shift) }

func (m *msf) streams() int { return len(m.table) }

func (m *msf) open(i int) (stream, error) {
	if i < 0 || i >= len(m.table) {
		return nil, fail(CodeCorrupt, i, 0, "there are only %d streams", len(m.table))
	}
	if e := m.table[i]; int64(e.bytes) > m.src.size() { // no page is there twice: the file was cut off
		return nil, fail(CodeTruncated, i, 0, "a stream of %d bytes in a file of %d", e.bytes, m.src.size())
	}
	return &msfStream{m, i, m.table[i]}, nil
}

type msfStream struct {
	m     *msf
	at    int // number of the stream, -1 for the directory
	entry msfEntry
}

func (s *msfStream) number() int { return s.at }
func (s *msfStream) size() int64 { return int64(s.entry.bytes) }

func (s *msfStream) check(off int64, n int) error {
	if off < 0 || n < 0 || off > s.size() || int64(n) > s.size()-off {
		return fail(CodeTruncated, s.at, off, "the stream ends at %#x, %d bytes are needed here", s.size(), n)
	}
	return nil
}

// run returns where in the file an offset is, and how many of n bytes follow there without a gap.
func (s *msfStream) run(off int64, n int) (int64, int) {
	shift := s.m.shift
	page := le.Uint32(s.entry.pages[off>>shift*4:])
	in := off & (1<<shift - 1)
	have := int64(1)<<shift - in
	for next, i := page+1, off>>shift+1; have < int64(n) && le.Uint32(s.entry.pages[i*4:]) == next; next, i = next+1, i+1 {
		have += 1 << shift
	}
	return int64(page)<<shift + in, int(min(have, int64(n)))
}

func (s *msfStream) view(off int64, n int) ([]byte, error) {
	if err := s.check(off, n); err != nil || n == 0 {
		return nil, err
	}
	at, have := s.run(off, n)
	if have == n {
		return s.m.src.bytes(at, n)
	}
	p := make([]byte, n)
	return p, s.read(off, p)
}

func (s *msfStream) read(off int64, p []byte) error {
	if err := s.check(off, len(p)); err != nil {
		return err
	}
	for len(p) > 0 {
		at, n := s.run(off, len(p))
		if err := s.m.src.read(at, p[:n]); err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}
