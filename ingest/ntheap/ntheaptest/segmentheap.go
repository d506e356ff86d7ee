package ntheaptest

import "math/rand/v2"

// A segmentHeapMaker is one segment heap that is being made.
type segmentHeapMaker struct {
	*maker
	handle    uint64
	truth     *Heap
	places    segmentPlaces
	key       uint64 // of chunks, of the process
	signed    uint64 // in signatures, of the process
	lfhKey    uint32 // of the process; of the heap from 24H2 on
	freePages uint64
	lfhs      int // subsegments of blocks of one size
}

// segmentKeys are the numbers that all segment heaps of a process share.
func segmentKeys(v *WindowsVersion, seed uint64) (heap, signed uint64, lfh uint32) {
	r := rand.New(rand.NewPCG(seed, 0x5E6))
	heap, lfh = r.Uint64(), r.Uint32()
	switch {
	case v.oldSegments():
		return heap, r.Uint64(), lfh
	case v.Build < 26100:
		return heap, heap ^ 0xA2E64EADA2E64EAD, lfh
	}
	return heap, heap, lfh
}

// segmentHeap makes a segment heap and returns its handle: segments of 1 MB and of 16 MB, with blocks in pages of their
// own, in subsegments of blocks of variable size and of one size, and reservations of their own. 32-bit Windows has no
// segments of 16 MB, and 15063 and before have neither those nor contexts.
func (m *maker) segmentHeap(blocks int) uint64 {
	v := m.v
	m.p.Heaps = append(m.p.Heaps, Heap{Segment: true})
	h := &segmentHeapMaker{maker: m, truth: &m.p.Heaps[len(m.p.Heaps)-1], places: v.segmentPlaces()}
	h.key, h.signed, h.lfhKey = segmentKeys(v, m.recipe.Seed)
	m.p.SegmentKey = h.key
	h.handle = m.reserve(2 * Page)
	if v.Build >= 26100 {
		h.lfhKey ^= uint32(h.handle)
	}
	h.truth.Handle = h.handle
	m.zero(h.handle, 2*Page)
	m.u32(h.handle+v.pick(8, 0x10), 0xDDEEDDEE)
	m.u32(h.handle+v.pick(0xc, 0x14), 0x10000002)
	for i, shift := range v.segmentShifts() {
		context := h.handle
		if !v.oldSegments() {
			context = h.handle + h.places.contexts + uint64(i)*h.places.contextSize
			m.pointer(context, -(uint64(256) << shift))
			m.u8(context+v.pick(4, 8), uint8(shift))
			m.u8(context+v.pick(5, 9), uint8(shift-12))
			m.u8(context+v.pick(6, 0xa), uint8(v.FirstUnit(shift)))
		}
		h.segments(context, shift, blocks)
	}
	h.largeBlocks()
	m.pointer(h.handle+h.places.reserved, h.truth.Reserved/Page)
	m.pointer(h.handle+h.places.committed, h.truth.Committed/Page)
	m.pointer(h.handle+h.places.free, h.freePages)
	return h.handle
}

// segments makes the segments of a context.
func (h *segmentHeapMaker) segments(context, shift uint64, blocks int) {
	links := []uint64{context + h.places.list}
	for range max(h.recipe.Segments, 1) {
		links = append(links, h.segment(context, shift, blocks))
	}
	h.pointer(context+h.places.count, uint64(len(links)-1))
	h.circle(links...)
	h.truth.Segments += len(links) - 1
	h.truth.Reserved += uint64(256) << shift * uint64(len(links)-1)
}

// A pageRange is units of a segment.
type pageRange struct {
	index, units int
	flags        uint8
	unused       uint64
	extra        bool
}

// segment makes a segment and returns its link, which is where it begins.
func (h *segmentHeapMaker) segment(context, shift uint64, blocks int) uint64 {
	v, size := h.v, uint64(256)<<shift
	h.free = (h.free + size - 1) &^ (size - 1)
	base := h.reserve(size)
	at, page := v.FirstUnit(shift), 1
	h.commitUnits(base, uint64(at)<<shift)
	clear(h.at(base, int(v.pick(0x1000, 0x2000))))
	place := base
	if v.oldSegments() {
		place >>= 20
	}
	h.pointer(base+v.pick(8, 0x10), place^context^h.signed)
	if shift == 16 {
		page = 1 + h.random.IntN(2)
	}
	for n := 0; n < blocks && at < 250; n++ {
		r := pageRange{index: at, units: min(page+h.random.IntN(12), 254-at)}
		address := base + uint64(at)<<shift
		room := uint64(r.units) << shift
		kind := h.random.IntN(12)
		if n == 0 && h.recipe.System { // small blocks, which those with padding are not, come first
			kind = 3
		}
		switch {
		case kind < 2:
			r.flags = 2
			h.truth.Free++
			if kind == 0 {
				h.commitUnits(address, room)
				h.freePages += room / Page
			}
		case kind == 2 && v.internalRanges():
			r.flags = 1 | 2 | 1<<2
			h.commitUnits(address, room)
		case kind < 6:
			r.flags = 1 | 2 | 2<<2
			if r.units = min(r.units, 4); shift == 16 {
				r.units = 1
			}
			room = uint64(r.units) << shift
			h.commitUnits(address, room)
			h.lfh(address, room)
		case kind < 9:
			r.flags = 1 | 2 | 3<<2
			if shift == 16 {
				r.units = 1
			}
			room = uint64(r.units) << shift
			h.commitUnits(address, room)
			h.vs(address, room)
		default:
			r.flags = 1 | 2
			h.commitUnits(address, room)
			r.unused, r.extra = h.block(address, room, "backend", uint64(h.random.IntN(int(min(room, 0xFFFF)))))
		}
		h.describeRange(base, r)
		at += r.units
	}
	h.truth.Free++
	h.describeRange(base, pageRange{index: at, units: 256 - at, flags: 2}) // never used: not committed
	return base
}
