package pdb

import (
	"bytes"
	"io"
	"slices"
)

// PlainMSF is an MSFZ file as the MSF 7.00 file that every debugger reads. Its pages are made when they are read:
//
//	page 0           header, as msf has it
//	pages k×size+1   free map, which says that all pages are used; and another one at k×size+2
//	the others       streams in their order, the directory, the map of the directory, each on pages of its own
type PlainMSF struct {
	z         *msfz
	shift     uint    // pages have 1<<shift bytes
	starts    []int64 // of the streams among the pages that are no free map; then the directory, the map, the end
	directory []byte
	list      []byte // of the directory's pages
	pages     int64
}

// maxPages is how many pages the readers of Microsoft take; maxPageShift their largest pages, 32 KB.
const (
	maxPages     = 1 << 20
	minPageShift = 12
	maxPageShift = 15
)

// IsMSFZ reports whether a file begins as an MSFZ container.
func IsMSFZ(r io.ReaderAt) bool {
	head := make([]byte, len(magicMSFZ))
	n, _ := r.ReadAt(head, 0) // what cannot be read is none
	return n == len(head) && bytes.Equal(head, []byte(magicMSFZ))
}

// OpenPlain reads the directory of an MSFZ file. r must stay readable for as long as the result is read, which takes
// memory for the last few chunks.
func OpenPlain(r io.ReaderAt, size int64) (*PlainMSF, error) {
	z, err := openMSFZ(newBlockSource(r, size))
	if err != nil {
		return nil, err
	}
	p := &PlainMSF{z: z, shift: minPageShift}
	for !p.layOut() {
		if p.shift++; p.shift > maxPageShift {
			return nil, fail(CodeUnsupported, -1, 0, "unpacked, the file has more pages than readers of PDBs take")
		}
	}
	for i := range z.table {
		if z.table[i].length >= nilStream {
			return nil, fail(CodeUnsupported, i, 0, "a stream of %d bytes does not fit into a plain PDB", z.table[i].length)
		}
	}
	p.writeDirectory()
	return p, nil
}

// layOut finds the places of the streams. It fails where there are too many pages, or the directory too long for its
// header.
func (p *PlainMSF) layOut() bool {
	n, next := len(p.z.table), int64(1)
	p.starts = make([]int64, 0, n+3)
	for i := range p.z.table {
		p.starts = append(p.starts, next)
		if next += p.count(p.z.table[i].length); next > maxPages {
			return false
		}
	}
	directory := 4 + 4*int64(n) + 4*(next-1)
	list := 4 * p.count(directory)
	p.starts = append(p.starts, next, next+p.count(directory), next+p.count(directory)+p.count(list))
	p.pages = p.place(p.starts[n+2]-1) + 1
	if p.pages&(p.size()-1) == 1 {
		p.pages += 2 // the free maps behind the last page
	}
	return p.pages <= maxPages && 52+4*p.count(list) <= p.size()
}

func (p *PlainMSF) writeDirectory() {
	n := len(p.z.table)
	p.directory = le.AppendUint32(nil, uint32(n))
	for i := range p.z.table {
		p.directory = le.AppendUint32(p.directory, uint32(p.z.table[i].length))
	}
	for i := p.starts[0]; i < p.starts[n]; i++ {
		p.directory = le.AppendUint32(p.directory, uint32(p.place(i)))
	}
	for i := p.starts[n]; i < p.starts[n+1]; i++ {
		p.list = le.AppendUint32(p.list, uint32(p.place(i)))
	}
}

func (p *PlainMSF) size() int64 { return 1 << p.shift }

// count is how many pages so many bytes take.
func (p *PlainMSF) count(n int64) int64 { return (n + p.size() - 1) >> p.shift }

// place is the number of the i-th page that is no free map.
func (p *PlainMSF) place(i int64) int64 {
	interval, at := i/(p.size()-2), i%(p.size()-2)
	if at > 0 {
		at += 2
	}
	return interval<<p.shift + at
}

// Size is the size of the plain file in bytes.
func (p *PlainMSF) Size() int64 { return p.pages << p.shift }

// ReadAt reads the plain file. Its error is an *evidence.Error where the container is damaged.
func (p *PlainMSF) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && off < p.Size() {
		in := off & (p.size() - 1)
		part := b[n:min(len(b), n+int(p.size()-in))]
		if err := p.page(off>>p.shift, in, part); err != nil {
			return n, err
		}
		n, off = n+len(part), off+int64(len(part))
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// page fills b with what a page holds from in on.
func (p *PlainMSF) page(number, in int64, b []byte) error {
	clear(b)
	interval, at := number>>p.shift, number&(p.size()-1)
	switch {
	case number == 0:
		copyFrom(b, p.header(), in)
		return nil
	case at == 1 || at == 2:
		p.freeMap(interval, in, b)
		return nil
	case at > 2:
		at -= 2
	}
	i := interval*(p.size()-2) + at
	s, _ := slices.BinarySearch(p.starts, i+1)
	s-- // streams without bytes begin where the next one does
	off := (i-p.starts[s])<<p.shift + in
	switch n := len(p.z.table); {
	case s < n:
		stream := &p.z.table[s]
		if off >= stream.length {
			return nil // behind its end
		}
		return stream.read(off, b[:min(int64(len(b)), stream.length-off)])
	case s == n:
		copyFrom(b, p.directory, off)
	case s == n+1:
		copyFrom(b, p.list, off)
	}
	return nil
}

// copyFrom copies what stands at an offset, if anything does.
func copyFrom(b, from []byte, off int64) { copy(b, from[min(off, int64(len(from))):]) }

func (p *PlainMSF) header() []byte {
	h := []byte(magicMSF)
	for _, v := range []uint32{uint32(p.size()), 1, uint32(p.pages), uint32(len(p.directory)), 0} {
		h = le.AppendUint32(h, v)
	}
	n := len(p.z.table)
	for i := p.starts[n+1]; i < p.starts[n+2]; i++ {
		h = le.AppendUint32(h, uint32(p.place(i)))
	}
	return h
}

// freeMap fills b with a page of the free map, which has a bit for each page of the file: 0 where it is used.
func (p *PlainMSF) freeMap(interval, in int64, b []byte) {
	first := (interval<<p.shift + in) * 8 // page of the first bit
	for i := range b {
		if used := p.pages - first - int64(i)*8; used < 8 {
			b[i] = 0xFF << max(0, used)
		}
	}
}
