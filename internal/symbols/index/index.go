// Package index holds what a PDB says in a form that answers at once. In comes a PDB, or an index that was written
// before and is mapped into memory as it is; out go, for an address of the image, its function, displacement, file,
// line and inlined calls, and for an allocating call the allocated type.
//
// The layout, all numbers little-endian, of 32 bits where nothing else is said:
//
//	magic      "hdsyidx" and the version in one byte
//	checksum   CRC-32C of all that follows
//	counts     of segments, pages, locations, inlines, types, OMAP entries; bytes of texts
//	debug id   length in one byte, 47 bytes
//	starts     where each segment starts, ascending; it ends where the next one starts
//	segments   each segment's location, counted from 1; 0 where nothing is known
//	pages      of each 4 KiB of the image: the first segment that starts there or behind
//	locations  function, its start, file, line, inlined call (counted from 1; 0 for none), flags
//	inlines    function, file, line, next outer call
//	types      return address in the image (ascending), type
//	omap       address in the image (ascending), address before the image was reordered or 0 for none
//	texts      of each: length, bytes; the other sections name a text by its offset here, 0 is the empty one
//
// Addresses are RVAs. Where an image was reordered after linking (OMAP), segments and functions live in the space
// before it, and a look-up translates first.
package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"
	"unsafe"
)

// Version is the version of the layout and of the rules that indexes are built by. An index of another version is
// built anew.
const Version = 2

const (
	magic      = "hdsyidx"
	headerSize = 8 + 4 + 7*4 + 48
	pageShift  = 12

	locationSize = 24
	inlineSize   = 16
	typeSize     = 8
	omapSize     = 8

	flagApprox = 1

	// maxInlines ends a chain of inlined calls that is deeper than any compiler makes.
	maxInlines = 256
)

// ErrIndex is wrapped by the errors for damaged or foreign bytes.
var ErrIndex = errors.New("index: not a symbol index of this version")

// A Location is the source location of an address. Its texts lie in the index's own memory.
type Location struct {
	Function     string
	Displacement uint32   // bytes from the function's start
	File         string   // "" where unknown
	Line         uint32   // 0 where unknown
	Inlines      []Inline // innermost first; valid until the next Lookup into the same Location
	Approx       bool     // Function is only the nearest symbol below
}

// An Inline is a call that the compiler inlined at the address, innermost first in a Location. File and Line are the
// position inside the inlined function.
type Inline struct {
	Function string
	File     string
	Line     uint32
}

// An Index answers look-ups. It is safe for concurrent use.
type Index struct {
	debugID                                                         string
	starts, segments, pages, locations, inlines, types, omap, texts []byte
}

// Read reads an index into memory and checks all of it. Its error wraps ErrIndex where the bytes are none.
func Read(r io.ReaderAt, size int64) (*Index, error) {
	if size < headerSize || size > 1<<32 {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrIndex, size)
	}
	data := make([]byte, 1)
	n, err := r.ReadAt(data, size-1)
	if n == len(data) { // so there are bytes for which room can be made
		data = make([]byte, size)
		_, err = io.ReadFull(io.NewSectionReader(r, 0, size), data)
	}
	switch {
	case errors.Is(err, io.EOF) && n == 0, errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: it ends before its %d bytes", ErrIndex, size)
	case err != nil:
		return nil, fmt.Errorf("index: read: %w", err)
	}
	x, err := Open(data)
	if err != nil {
		return nil, err
	}
	if sum := crc32.Checksum(data[12:], castagnoli); sum != binary.LittleEndian.Uint32(data[8:]) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrIndex)
	}
	return x, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open opens an index that lies in memory or is mapped there, without reading more than its header: the checksum is
// not checked, but look-ups check whatever they read. The Index holds on to data.
func Open(data []byte) (*Index, error) {
	if len(data) < headerSize || string(data[:7]) != magic || data[7] != Version {
		return nil, ErrIndex
	}
	x := &Index{}
	if n := int(data[40]); n < 48 {
		x.debugID = string(data[41 : 41+n])
	}
	rest := data[headerSize:]
	for _, s := range []struct {
		section     *[]byte
		count, size int
	}{
		{&x.starts, 0, 4}, {&x.segments, 0, 4}, {&x.pages, 1, 4}, {&x.locations, 2, locationSize},
		{&x.inlines, 3, inlineSize},
		{&x.types, 4, typeSize}, {&x.omap, 5, omapSize}, {&x.texts, 6, 1},
	} {
		n := uint64(binary.LittleEndian.Uint32(data[12+4*s.count:])) * uint64(s.size)
		if n > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: it is cut", ErrIndex)
		}
		*s.section, rest = rest[:n:n], rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: %d bytes follow it", ErrIndex, len(rest))
	}
	return x, nil
}

// DebugID is the id of the PDB that the index was made from.
func (x *Index) DebugID() string { return x.debugID }

// Lookup fills in out for an RVA of the image, and reports whether the index has it. It reuses the slice out.Inlines.
func (x *Index) Lookup(rva uint32, out *Location) bool {
	*out = Location{Inlines: out.Inlines[:0]}
	rva, ok := x.source(rva)
	if !ok {
		return false
	}
	at := x.segment(rva)
	if at < 0 {
		return false
	}
	n := number(x.segments, at)
	if n == 0 || int(n) > len(x.locations)/locationSize {
		return false
	}
	l := x.locations[int(n-1)*locationSize:][:locationSize]
	out.Function = x.text(field(l, 0))
	out.Displacement = rva - field(l, 1)
	out.File = x.text(field(l, 2))
	out.Line = field(l, 3)
	out.Approx = field(l, 5)&flagApprox != 0
	for next := field(l, 4); next != 0 && int(next) <= len(x.inlines)/inlineSize && len(out.Inlines) < maxInlines; {
		i := x.inlines[int(next-1)*inlineSize:][:inlineSize]
		out.Inlines = append(out.Inlines, Inline{x.text(field(i, 0)), x.text(field(i, 1)), field(i, 2)})
		next = field(i, 3)
	}
	return true
}

// Type is the name of the type that the call before a return address allocates; "" where the compiler did not
// record it.
func (x *Index) Type(ret uint32) string {
	n := len(x.types) / typeSize
	at := sort.Search(n, func(i int) bool { return field(x.types[i*typeSize:], 0) >= ret })
	if at == n || field(x.types[at*typeSize:], 0) != ret {
		return ""
	}
	return x.text(field(x.types[at*typeSize:], 1))
}

// source translates an address to the space before the image was reordered.
func (x *Index) source(rva uint32) (uint32, bool) {
	n := len(x.omap) / omapSize
	if n == 0 {
		return rva, true
	}
	at := sort.Search(n, func(i int) bool { return field(x.omap[i*omapSize:], 0) > rva }) - 1
	if at < 0 {
		return 0, false
	}
	from, to := field(x.omap[at*omapSize:], 0), field(x.omap[at*omapSize:], 1)
	return to + (rva - from), to != 0
}

// segment is the last segment that starts at or before an address, or −1. The page of the address narrows the
// search to a few segments.
func (x *Index) segment(rva uint32) int {
	low, high := 0, len(x.starts)/4
	if page := int(rva >> pageShift); page < len(x.pages)/4 {
		low = min(int(number(x.pages, page)), high)
		if page+1 < len(x.pages)/4 {
			high = max(low, min(int(number(x.pages, page+1)), high))
		}
	}
	for low < high {
		if mid := (low + high) / 2; number(x.starts, mid) <= rva {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// text is the text at an offset; "" where there is none.
func (x *Index) text(at uint32) string {
	if at == 0 || uint64(at)+4 > uint64(len(x.texts)) {
		return ""
	}
	rest := x.texts[at:]
	n := field(rest, 0)
	if n == 0 || uint64(n) > uint64(len(rest)-4) {
		return ""
	}
	return unsafe.String(&rest[4], n) //nolint:gosec // the bytes are checked above and nobody writes to them: a look-up must not copy them
}

func number(section []byte, i int) uint32 { return binary.LittleEndian.Uint32(section[4*i:]) }
func field(record []byte, i int) uint32   { return binary.LittleEndian.Uint32(record[4*i:]) }
