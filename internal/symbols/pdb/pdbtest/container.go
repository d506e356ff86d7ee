package pdbtest

import (
	"encoding/binary"
	"fmt"
	"io"
)

var le = binary.LittleEndian

// A container writes streams as MSF 7.00. Pages are given out in ascending order, but for those of the free page maps,
// the pages 1 and 2 of every run of pageSize pages. One stream is written at a time.
type container struct {
	out      io.WriterAt
	pageSize int
	next     uint32 // the next page to give out
	streams  []stream
	run      []byte // bytes of consecutive pages that have not been written
	runPage  uint32
	err      error
}

type stream struct {
	size  int64
	pages []uint32
	none  bool
}

func newContainer(out io.WriterAt, pageSize int) *container {
	return &container{out: out, pageSize: pageSize, next: 3, streams: make([]stream, 5)}
}

// reserve gives out a stream number.
func (c *container) reserve() uint16 {
	c.streams = append(c.streams, stream{})
	return uint16(len(c.streams) - 1)
}

// add writes a new stream.
func (c *container) add(content []byte) uint16 {
	n := c.reserve()
	c.put(n, content)
	return n
}

// put writes a stream whose number was given out before.
func (c *container) put(number uint16, content []byte) {
	s := &c.streams[number]
	s.size = int64(len(content))
	for len(content) > 0 {
		n := min(len(content), c.pageSize)
		s.pages = append(s.pages, c.page(content[:n]))
		content = content[n:]
	}
}

// hole adds streams of so many bytes together whose pages are never written: in a file they take up no space.
func (c *container) hole(size int64) {
	const largest = 1 << 31 // a stream's size has 32 bits
	for size > 0 {
		s := &c.streams[c.reserve()]
		s.size = min(size, largest)
		size -= s.size
		for range (s.size + int64(c.pageSize) - 1) / int64(c.pageSize) {
			s.pages = append(s.pages, c.allocate())
		}
	}
}

func (c *container) allocate() uint32 {
	for c.next%uint32(c.pageSize) == 1 || c.next%uint32(c.pageSize) == 2 {
		c.next++
	}
	c.next++
	return c.next - 1
}

// page writes a page and returns its number.
func (c *container) page(content []byte) uint32 {
	p := c.allocate()
	const runMax = 1 << 20
	if len(c.run) >= runMax || len(c.run) > 0 && p != c.runPage+uint32(len(c.run)/c.pageSize) {
		c.flush()
	}
	if len(c.run) == 0 {
		c.runPage = p
	}
	c.run = append(c.run, content...)
	if odd := len(c.run) % c.pageSize; odd != 0 {
		c.run = append(c.run, make([]byte, c.pageSize-odd)...)
	}
	return p
}

func (c *container) flush() {
	c.writeAt(c.run, int64(c.runPage)*int64(c.pageSize))
	c.run = c.run[:0]
}

func (c *container) writeAt(b []byte, at int64) {
	if c.err != nil || len(b) == 0 {
		return
	}
	if _, err := c.out.WriteAt(b, at); err != nil {
		c.err = fmt.Errorf("pdbtest: write at %#x: %w", at, err)
	}
}

// close writes the directory, the free page maps and the header.
func (c *container) close() error {
	directory := le.AppendUint32(nil, uint32(len(c.streams)))
	for _, s := range c.streams {
		size := uint32(s.size)
		if s.none {
			size = 0xFFFFFFFF
		}
		directory = le.AppendUint32(directory, size)
	}
	for _, s := range c.streams {
		for _, p := range s.pages {
			directory = le.AppendUint32(directory, p)
		}
	}
	blocks := c.pages(directory)
	blockMap := c.pages(blocks)
	// The header has room for the page numbers of the block map in microsoft-pdb's MSF_HDR, one after the other; LLVM
	// takes the map to be consecutive. Both read what is written here, as pages are given out in order; a map that
	// would stretch over a free page map is moved behind it.
	first := le.Uint32(blockMap)
	for i := range len(blockMap) / 4 {
		if le.Uint32(blockMap[i*4:]) != first+uint32(i) {
			blockMap = c.pages(blocks)
			first = le.Uint32(blockMap)
			break
		}
	}
	c.flush()
	last := c.next // one behind the last page
	c.freePages(last)
	header := make([]byte, 0, c.pageSize)
	header = append(header, "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"...)
	for _, v := range []uint32{uint32(c.pageSize), 1, last, uint32(len(directory)), 0, first} {
		header = le.AppendUint32(header, v)
	}
	c.writeAt(header[:c.pageSize], 0)
	return c.err
}

// pages writes content to new pages and returns their numbers.
func (c *container) pages(content []byte) []byte {
	var numbers []byte
	for len(content) > 0 {
		n := min(len(content), c.pageSize)
		numbers = le.AppendUint32(numbers, c.page(content[:n]))
		content = content[n:]
	}
	return numbers
}

// freePages writes the free page map 1: a bit for each page, 1 where it is free. It is spread over the pages 1 of the
// runs; what is behind the last page is free.
func (c *container) freePages(pages uint32) {
	for run := uint32(0); run*uint32(c.pageSize) < pages; run++ {
		m := make([]byte, c.pageSize)
		bits := uint32(c.pageSize) * 8
		for i := range bits {
			if run*bits+i >= pages {
				m[i/8] |= 1 << (i % 8)
			}
		}
		if page := run*uint32(c.pageSize) + 1; page < pages {
			c.writeAt(m, int64(page)*int64(c.pageSize))
		}
	}
}
