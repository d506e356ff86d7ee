package ntheaptest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// A PlacedRecipe is the recipe of a process with +ust whose blocks are given one by one. So several dumps can show what
// one process held at several instants: the same block has the same address in all of them. Windows must be Vista or
// later.
type PlacedRecipe struct {
	Windows *WindowsVersion // must be set
	Seed    uint64          // of the keys that heaps encode their entries with: the same for all dumps of a process
	Images  []Image         // the first is the program's
	Stacks  [][]uint64      // innermost frame first, up to 32 of them
	Heaps   []PlacedHeap
}

// A PlacedHeap has one segment, which is committed as far as its blocks reach.
type PlacedHeap struct {
	Handle   uint64 // where the segment begins
	Reserved uint64 // bytes of the segment, whole pages
	Blocks   []PlacedBlock
}

// A PlacedBlock is a block of the program. The blocks of a heap may be in any order, but must leave room for what
// stands before each: see BeforeBlock and BeforeVirtual. Those of the segment keep a page from either end of it.
type PlacedBlock struct {
	Address, Size uint64 // Size is at least one byte
	Stack         int    // index in Stacks
	Virtual       bool   // it has a reservation of its own, of VirtualRoom bytes
}

// BeforeBlock is how many bytes of a block with a stack lie before its data: its entry, and the two granules of the
// prefix.
func (v *WindowsVersion) BeforeBlock() uint64 { return 3 * v.granule() }

// BeforeVirtual is how many bytes of a virtual block with a stack lie before its data: its reservation begins with
// _HEAP_VIRTUAL_ALLOC_ENTRY.
func (v *WindowsVersion) BeforeVirtual() uint64 { return v.pick(0x18, 0x30) + v.BeforeBlock() }

// VirtualRoom is how many bytes of addresses a virtual block of size bytes takes: what is committed, and an uncommitted
// page behind it.
func VirtualRoom(size uint64) uint64 { return virtualCommit(size) + Page }

// Place makes the process. Bytes are made when they are read, so that a block takes no more memory than what describes
// it.
func Place(r PlacedRecipe) *Process {
	v := r.Windows
	m := &maker{
		arena: arena{wide: v.Bits == 64}, v: v, recipe: Recipe{Windows: v, Seed: r.Seed, Stacks: true},
		random: newRandom(r.Seed),
		p:      &Process{Windows: v, Images: r.Images, Flags: 0x1000}, free: 0x0040_0000,
	}
	m.makeTraces(len(r.Stacks), func(i int) []uint64 { return r.Stacks[i] })
	m.p.Heaps = make([]Heap, len(r.Heaps))
	var memory Memory
	var handles []uint64
	for i := range r.Heaps {
		h := &heapMaker{maker: m, handle: r.Heaps[i].Handle, key: m.random.Uint64() | 1<<20, truth: &m.p.Heaps[i]}
		memory = append(memory, h.place(&r.Heaps[i])...)
		handles = append(handles, h.handle)
	}
	m.environment(handles)
	m.p.Memory = Join(m.memory(), memory)
	for i, r := range m.p.Memory[1:] {
		if before := m.p.Memory[i]; before.Start+before.Size > r.Start {
			panic(fmt.Sprintf("ntheaptest: what is placed at %#x and at %#x overlaps", before.Start, r.Start))
		}
	}
	return m.p
}

// place writes a heap and takes its memory out of the arena.
func (h *heapMaker) place(p *PlacedHeap) Memory {
	v, before := h.v, len(h.regions)
	s := madeSegment{base: h.handle, size: p.Reserved, header: (v.heap.size + v.granule() - 1) &^ (v.granule() - 1)}
	h.zero(s.base, s.header)
	var inSegment, virtual []PlacedBlock
	for _, b := range slices.SortedFunc(slices.Values(p.Blocks),
		func(a, b PlacedBlock) int { return cmp.Compare(a.Address, b.Address) }) {
		if b.Virtual {
			virtual = append(virtual, b)
		} else {
			inSegment = append(inSegment, b)
		}
	}
	tail, descriptor := h.placeEntries(&s, inSegment)
	entries := len(h.regions)
	var links []uint64
	for _, b := range virtual {
		at := b.Address - v.BeforeVirtual()
		h.zero(at, v.BeforeVirtual())
		h.virtualBlock(at, virtualCommit(b.Size), b.Size, h.traces[b.Stack], false)
		links = append(links, at)
	}
	h.truth.Handle, h.truth.Reserved, h.truth.Committed, h.truth.Segments, h.truth.Holes = s.base,
		s.size, tail.to-s.base, 1, 1
	h.segmentHeader(&s, tail.hole, []uint64{descriptor})
	h.writeHeader([]madeSegment{s}, links)

	memory := Memory{{s.base, tail.to - s.base,
		&sparseMemory{s.base, tail.to - s.base, slices.Clone(h.regions[before:entries])}}}
	h.p.Reservations = append(h.p.Reservations, Reservation{s.base, s.size})
	for i, r := range h.regions[entries:] {
		commit := virtualCommit(virtual[i].Size)
		memory = append(memory, Range{r.start, commit, &sparseMemory{r.start, commit, []region{r}}})
		h.p.Reservations = append(h.p.Reservations, Reservation{r.start, VirtualRoom(virtual[i].Size)})
	}
	h.regions, h.last = h.regions[:before], 0
	return memory
}

// placeEntries writes the entries of a segment, free ones between the blocks, and returns the run of those that end it
// with the descriptor of what is not committed.
func (h *heapMaker) placeEntries(s *madeSegment, blocks []PlacedBlock) (tail *run, descriptor uint64) {
	v, g := h.v, h.v.granule()
	at, previous := s.base+s.header, uint16(s.header/g)
	for i, b := range blocks {
		from := b.Address - v.BeforeBlock()
		if from < at || from%g != 0 {
			panic(fmt.Sprintf("ntheaptest: the block at %#x has no room before it", b.Address))
		}
		for at < from {
			granules := min((from-at)/g, 0x10000-Page/g) // HEAP_MAXIMUM_BLOCK_SIZE; a longer range is several free blocks
			h.zero(at, g)
			h.entry(at, int(granules), previous, 0, 0)
			h.truth.Free++
			at, previous = at+granules*g, uint16(granules)
		}
		size := (b.Size + 2*g + 8 + g - 1) &^ (g - 1) // half of a 64-bit entry lies in the block before
		if i+1 < len(blocks) && blocks[i+1].Address-v.BeforeBlock() == at+size+g {
			size += g // a granule alone has no room for the links of a free block
		}
		t := h.traces[b.Stack]
		h.zero(at, v.BeforeBlock())
		h.entry(at, int(size/g), previous, busy, prefixed)
		h.p.Blocks = append(h.p.Blocks,
			Block{Heap: h.handle, Address: h.prefix(at, size-b.Size, t), Size: b.Size, Place: "backend", Stack: t.stack})
		at, previous = at+size, uint16(size/g)
	}
	tail = &run{from: at, to: (at + 2*g + h.lastBlock() + Page - 1) &^ (Page - 1)}
	if tail.to > s.base+s.size {
		panic(fmt.Sprintf("ntheaptest: the segment at %#x is too short for its blocks", s.base))
	}
	tail.hole = s.base + s.size - tail.to
	h.zero(tail.from, tail.to-tail.from)
	return tail, h.describe(tail, h.fill(tail, previous))
}

// sparseMemory is a range of zeros except for the regions that were written, which are sorted by address.
type sparseMemory struct {
	base, size uint64
	written    []region
}

// ReadAt implements io.ReaderAt.
func (s *sparseMemory) ReadAt(p []byte, off int64) (int, error) {
	if uint64(off) >= s.size {
		return 0, io.EOF
	}
	from := s.base + uint64(off)
	short := s.size-uint64(off) < uint64(len(p))
	p = p[:min(uint64(len(p)), s.size-uint64(off))]
	clear(p)
	first, _ := slices.BinarySearchFunc(s.written, from,
		func(r region, at uint64) int { return cmp.Compare(r.start+uint64(len(r.bytes)), at) })
	for _, r := range s.written[first:] {
		if r.start >= from+uint64(len(p)) {
			break
		}
		overlay(p, from, r.start, r.bytes)
	}
	if short {
		return len(p), io.EOF
	}
	return len(p), nil
}
