package ntheaptest

import (
	"encoding/binary"
	"io"
	"slices"
)

// A LargeProcess has one heap of so many blocks that their bytes are made only when they are read.
type LargeProcess struct {
	*Process
	Count uint64 // blocks
	lazy  *lazySegment
	heap  uint64
}

// lazySegment is the memory of a segment: its header, count blocks of stride bytes each, and what ends it.
type lazySegment struct {
	v                   *WindowsVersion
	key                 uint64
	start               uint64 // address of the first entry
	head, tail          []byte
	count, stride, size uint64
	first               uint16 // PreviousSize of the first entry
	traces              []madeTrace
}

// MakeLarge makes a process with a heap of count blocks of up to size bytes each. It uses Windows (Vista or later),
// Seed and Stacks of the recipe. A heap of 32 bits must fit into 1 GB.
func MakeLarge(r Recipe, count, size uint64) *LargeProcess {
	r.LFH = false
	v := r.Windows
	m := &maker{arena: arena{wide: v.Bits == 64}, v: v, recipe: r, random: newRandom(r.Seed), p: &Process{Windows: v},
		free: max(r.Base, 0x0040_0000)}
	m.images()
	if r.Stacks {
		m.p.Flags |= 0x1000
	}
	m.makeTraces(64, m.randomStack)
	m.p.Heaps = append(m.p.Heaps, Heap{})
	h := &heapMaker{maker: m, key: m.random.Uint64() | 1<<20, truth: &m.p.Heaps[0]}
	g := v.granule()
	room := size + 8
	if r.Stacks {
		room += 2 * g
	}
	stride := max((room+g-1)&^(g-1), 4*g)
	header := (v.heap.size + g - 1) &^ (g - 1)
	body := header + count*stride
	total := (body + 2*g + h.lastBlock() + Page - 1) &^ (Page - 1)
	s := madeSegment{base: m.reserve(total), size: total, header: header}
	h.handle = s.base

	// The header and the end are written as those of other segments are; what lies between is not there.
	tail := run{from: s.base + body, to: s.base + total}
	m.commit(s.base, header)
	m.commit(tail.from, total-body)
	clear(m.at(s.base, int(header)))
	d := h.describe(&tail, h.fill(&tail, uint16(stride/g)))
	h.segmentHeader(&s, 0, []uint64{d})
	*h.truth = Heap{Handle: s.base, Reserved: total, Committed: total, Segments: 1, Holes: 1, Free: 1}
	h.writeHeader([]madeSegment{s}, nil)
	lazy := &lazySegment{
		v: v, key: h.key, start: s.base + header, head: slices.Clone(m.at(s.base, int(header))),
		tail:  slices.Clone(m.at(tail.from, int(total-body))),
		count: count, stride: stride, size: size, first: uint16(header / g),
	}
	m.regions = slices.DeleteFunc(m.regions, func(r region) bool { return r.start == s.base || r.start == tail.from })
	m.last = 0
	m.environment([]uint64{h.handle})
	if r.Stacks {
		lazy.traces = m.traces
	}
	m.p.Memory = append(m.memory(), Range{s.base, total, lazy})
	slices.SortFunc(m.p.Memory, byStart)
	return &LargeProcess{Process: m.p, Count: count, lazy: lazy, heap: h.handle}
}

// Block is what a reader must find for block i, from 0.
func (l *LargeProcess) Block(i uint64) Block {
	request, _, trace := l.lazy.block(i)
	g := l.lazy.v.granule()
	b := Block{Heap: l.heap, Address: l.lazy.start + i*l.lazy.stride + g, Size: request, Place: "backend"}
	if trace != nil {
		b.Address, b.Stack = b.Address+2*g, trace.stack
	}
	return b
}

// block chooses what block i was asked for with, and its stack: many blocks have the first, few the last.
func (s *lazySegment) block(i uint64) (request, unused uint64, trace *madeTrace) {
	request = s.size - i%min(s.size, 8)
	if len(s.traces) > 0 {
		n := (i * 0x9E3779B97F4A7C15) >> 58 // 0 to 63
		trace = &s.traces[min(n&(n>>3|1), uint64(len(s.traces)-1))]
	}
	return request, s.stride - request, trace
}

// ReadAt implements io.ReaderAt.
func (s *lazySegment) ReadAt(p []byte, off int64) (int, error) {
	at, body := uint64(off), s.count*s.stride
	end := uint64(len(s.head)) + body + uint64(len(s.tail))
	n := int(min(uint64(len(p)), end-min(at, end)))
	p = p[:n]
	clear(p)
	overlay(p, at, 0, s.head)
	overlay(p, at, uint64(len(s.head))+body, s.tail)
	if from := max(at, uint64(len(s.head))); n > 0 && from < at+uint64(n) {
		var b [48]byte
		first := (from - uint64(len(s.head))) / s.stride
		last := min((at+uint64(n)-1-uint64(len(s.head)))/s.stride, s.count-1)
		for i := first; i <= last; i++ {
			overlay(p, at, uint64(len(s.head))+i*s.stride, s.entry(b[:0], i))
		}
	}
	if at+uint64(n) == end {
		return n, io.EOF
	}
	return n, nil
}

// overlay writes what of b, which lies at from, is in p, which lies at at.
func overlay(p []byte, at, from uint64, b []byte) {
	if from < at {
		b = b[min(at-from, uint64(len(b))):]
		from = at
	}
	if from-at < uint64(len(p)) {
		copy(p[from-at:], b)
	}
}

// entry appends the entry of block i, and what stands before its data.
func (s *lazySegment) entry(b []byte, i uint64) []byte {
	v, g := s.v, s.v.granule()
	granules, previous := uint16(s.stride/g), uint16(s.stride/g)
	if i == 0 {
		previous = s.first
	}
	_, unused, trace := s.block(i)
	said := uint8(unused)
	if trace != nil {
		said = prefixed
	}
	b = append(b, make([]byte, v.compact())...)
	low, high := uint8(granules), uint8(granules>>8)
	b = binary.LittleEndian.AppendUint64(b,
		s.key^(uint64(low)|uint64(high)<<8|busy<<16|uint64(low^high^busy)<<24|uint64(previous)<<32|uint64(said)<<56))
	if trace == nil {
		return b
	}
	b = append(binary.LittleEndian.AppendUint64(b, trace.at), make([]byte, 2*g-8)...)
	x := b[len(b)-8:]
	number, _ := v.interceptor()
	binary.LittleEndian.PutUint16(x, number)
	binary.LittleEndian.PutUint16(x[4:], uint16(unused))
	x[6], x[7] = 2, 5
	return b
}
