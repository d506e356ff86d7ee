package ntheaptest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Page is the size of a page in bytes.
const Page = 0x1000

// A Range is Size bytes of committed memory from Start on; Bytes has their content.
type Range struct {
	Start, Size uint64
	Bytes       io.ReaderAt
}

// errMissing is what reading memory gives that is not committed.
var errMissing = errors.New("ntheaptest: not committed")

// Memory is the committed memory of a process, by address.
type Memory []Range

// ReadMemory reads until p is full or memory is not committed; the latter is an error.
func (m Memory) ReadMemory(p []byte, addr uint64) (int, error) {
	n := 0
	for n < len(p) {
		at := addr + uint64(n)
		i, found := slices.BinarySearchFunc(m, at, func(r Range, at uint64) int { return cmp.Compare(r.Start, at) })
		if !found {
			i--
		}
		if i < 0 || at-m[i].Start >= m[i].Size {
			return n, errMissing
		}
		want := p[n:min(uint64(len(p)), uint64(n)+m[i].Size-(at-m[i].Start))]
		read, err := m[i].Bytes.ReadAt(want, int64(at-m[i].Start))
		if n += read; read < len(want) { // an end of file beside all bytes is no error
			return n, fmt.Errorf("ntheaptest: %w", err)
		}
	}
	return n, nil
}

// Join is the memory of both sides of a process, which must not overlap.
func Join(a, b Memory) Memory { return slices.SortedFunc(slices.Values(slices.Concat(a, b)), byStart) }

// Map returns a copy of the memory in which change has replaced the bytes of each range: for tests that damage it.
func (m Memory) Map(change func(start uint64, b []byte) []byte) Memory {
	var out Memory
	for _, r := range m {
		b := make([]byte, r.Size)
		if n, err := r.Bytes.ReadAt(b, 0); uint64(n) < r.Size {
			panic(err)
		}
		if b = change(r.Start, b); len(b) > 0 {
			out = append(out, Range{r.Start, uint64(len(b)), bytes.NewReader(b)})
		}
	}
	return out
}

// An arena is memory that is being written. Writing where nothing is committed is a mistake of the maker, and panics.
type arena struct {
	wide    bool
	regions []region
	last    int
}

type region struct {
	start uint64
	bytes []byte
}

// garbage is what memory holds that was used before. Copying it a page at a time is much cheaper under the race
// detector, which looks at every store, than writing each byte.
var garbage = bytes.Repeat([]byte{0x5A}, Page)

// commit makes size bytes at start writable. They hold garbage.
func (a *arena) commit(start, size uint64) {
	a.zero(start, size)
	for b := a.regions[len(a.regions)-1].bytes; len(b) > 0; {
		b = b[copy(b, garbage):]
	}
}

// zero commits zeros.
func (a *arena) zero(start, size uint64) {
	a.regions = append(a.regions, region{start, make([]byte, size)})
}

// decommit takes pages away, behind the beginning of what was committed at once.
func (a *arena) decommit(at, size uint64) {
	for i, r := range a.regions {
		end := r.start + uint64(len(r.bytes))
		if at <= r.start || at+size > end {
			continue
		}
		a.regions[i].bytes = r.bytes[:at-r.start]
		if at+size < end {
			a.regions = append(a.regions, region{at + size, r.bytes[at+size-r.start:]})
		}
		return
	}
	panic("ntheaptest: what is to be decommitted is not committed")
}

func (a *arena) at(addr uint64, n int) []byte {
	for i := range a.regions {
		r := &a.regions[(a.last+i)%len(a.regions)]
		if addr >= r.start && addr-r.start+uint64(n) <= uint64(len(r.bytes)) {
			a.last = (a.last + i) % len(a.regions)
			return r.bytes[addr-r.start:][:n]
		}
	}
	panic(fmt.Sprintf("ntheaptest: %d bytes at %#x are not committed", n, addr))
}

func (a *arena) u8(addr uint64, v uint8)   { a.at(addr, 1)[0] = v }
func (a *arena) u16(addr uint64, v uint16) { binary.LittleEndian.PutUint16(a.at(addr, 2), v) }
func (a *arena) u32(addr uint64, v uint32) { binary.LittleEndian.PutUint32(a.at(addr, 4), v) }
func (a *arena) u64(addr, v uint64)        { binary.LittleEndian.PutUint64(a.at(addr, 8), v) }

// pointer writes as many bytes as an address has.
func (a *arena) pointer(addr, v uint64) {
	if a.wide {
		a.u64(addr, v)
	} else {
		a.u32(addr, uint32(v))
	}
}

// circle links LIST_ENTRYs in a circle.
func (a *arena) circle(links ...uint64) {
	width := uint64(4)
	if a.wide {
		width = 8
	}
	for i, link := range links {
		a.pointer(link, links[(i+1)%len(links)])
		a.pointer(link+width, links[(i+len(links)-1)%len(links)])
	}
}

// memory is what was written, by address.
func (a *arena) memory() Memory {
	var m Memory
	for _, r := range a.regions {
		m = append(m, Range{r.start, uint64(len(r.bytes)), bytes.NewReader(r.bytes)})
	}
	slices.SortFunc(m, byStart)
	return m
}

func byStart(a, b Range) int { return cmp.Compare(a.Start, b.Start) }
