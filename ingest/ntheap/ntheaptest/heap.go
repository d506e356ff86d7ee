package ntheaptest

// A heapMaker is one ordinary heap that is being made.
type heapMaker struct {
	*maker
	handle uint64
	light  bool
	key    uint64 // that entries are encoded with
	truth  *Heap
	front  uint64 // _LFH_HEAP, or the array of lookaside lists
	zone   zone
	lists  map[int][]uint64 // lookaside lists by granules
	links  []uint64         // of segments, in order
	spare  uint64           // the next of them
}

// A madeSegment is a segment: committed runs, each with what it is filled with and an uncommitted range behind.
type madeSegment struct {
	base, size, header uint64
	runs               []run
}

type run struct {
	from, to, hole uint64
	items          []item
}

// heap makes an ordinary heap and returns its handle.
func (m *maker) heap(blocks int, light bool) uint64 {
	m.p.Heaps = append(m.p.Heaps, Heap{})
	h := &heapMaker{maker: m, light: light, key: m.random.Uint64() | 1<<20, truth: &m.p.Heaps[len(m.p.Heaps)-1],
		lists: map[int][]uint64{}}
	if m.recipe.LFH || m.v.Old() {
		h.makeFront()
	}
	if m.v.Old() {
		h.spare = m.reserve(Page)
		m.zero(h.spare, Page)
	}
	var segments []madeSegment
	for i := range max(m.recipe.Segments, 1) {
		segments = append(segments, h.plan(i, blocks))
	}
	h.handle = segments[0].base
	h.truth.Handle, h.truth.Segments = h.handle, len(segments)
	for i := range segments {
		h.writeSegment(&segments[i])
	}
	virtual := h.virtualBlocks()
	h.writeHeader(segments, virtual)
	return h.handle
}

// makeFront reserves the front end: the low-fragmentation heap, or lookaside lists. From Windows 8.1 on it says how
// much of its reservation is committed, and the heap counts both as its own.
func (h *heapMaker) makeFront() {
	const committed, reserved = 4 * Page, 8 * Page
	h.front = h.reserve(reserved)
	h.zero(h.front, committed)
	if h.v.ownFront() {
		h.pointer(h.front+h.v.pick(0x14, 0x28), h.front+committed)
		h.truth.Front = committed
		h.truth.Committed, h.truth.Reserved = committed, reserved
	}
}

// plan decides what a segment holds and how large it must be for that, and reserves it.
func (h *heapMaker) plan(number, blocks int) madeSegment {
	v := h.v
	s := madeSegment{header: v.pick(0x40, 0x70)}
	if number == 0 {
		s.header = v.heap.size
	}
	if v.Old() && number == 0 {
		s.header += v.pick(0x3c, 0x68) // the segment's own header lies behind that of the heap
	}
	s.header = (s.header + v.granule() - 1) &^ (v.granule() - 1)
	at := s.header
	for i := range 2 {
		r := run{from: at, items: h.items(blocks, number == 0 && i == 0)}
		room := uint64(0)
		for _, it := range r.items {
			room += uint64(it.granules) * v.granule()
		}
		// Behind the items a free block of at least two granules takes what is left, and the last block has the descriptor.
		r.to = (at + room + 2*v.granule() + h.lastBlock() + Page - 1) &^ (Page - 1)
		r.hole = uint64(1+h.random.IntN(4)) * Page
		if i == 1 && number%2 == 1 {
			r.hole = 0 // a segment that is committed to its end
		}
		s.runs = append(s.runs, r)
		at = r.to + r.hole
	}
	s.size = at
	s.base = h.reserve(s.size)
	for i := range s.runs {
		r := &s.runs[i]
		r.from, r.to = r.from+s.base, r.to+s.base
	}
	return s
}

// lastBlock is the size of the block that ends committed memory and holds a descriptor.
func (h *heapMaker) lastBlock() uint64 {
	if h.v.Old() {
		return 0
	}
	return h.v.pick(0x20, 0x40)
}

func (h *heapMaker) writeSegment(s *madeSegment) {
	v := h.v
	from := s.base
	for _, r := range s.runs {
		h.commit(from, r.to-from)
		from = r.to + r.hole
	}
	clear(h.at(s.base, int(s.header)))
	var uncommitted uint64
	var descriptors []uint64
	for i := range s.runs {
		r := &s.runs[i]
		previous := uint16(0)
		if i == 0 {
			previous = uint16(s.header / v.granule())
		}
		if last := h.fill(r, previous); !v.Old() || r.hole > 0 {
			descriptors = append(descriptors, h.describe(r, last))
		}
		uncommitted += r.hole
		h.truth.Committed += r.to - r.from
	}
	h.truth.Committed += s.header
	h.truth.Reserved += s.size
	h.truth.Holes += len(descriptors)
	h.links = append(h.links, s.base)
	if v.Old() {
		h.oldSegment(s, uncommitted, descriptors)
		return
	}
	h.segmentHeader(s, uncommitted, descriptors)
}

// segmentHeader writes the header of a segment of Vista or later.
func (h *heapMaker) segmentHeader(s *madeSegment, uncommitted uint64, descriptors []uint64) {
	v, width := h.v, h.v.width()
	h.u32(s.base+2*width, 0xFFEEFFEE)
	h.pointer(s.base+v.pick(0x18, 0x28), h.handle)
	h.pointer(s.base+v.pick(0x1c, 0x30), s.base)
	h.u32(s.base+v.pick(0x20, 0x38), uint32(s.size/Page))
	h.pointer(s.base+v.pick(0x24, 0x40), s.base+s.header)
	h.pointer(s.base+v.pick(0x28, 0x48), s.base+s.size)
	h.u32(s.base+v.pick(0x2c, 0x50), uint32(uncommitted/Page))
	h.u32(s.base+v.pick(0x30, 0x54), uint32(len(descriptors)))
	circle := []uint64{s.base + v.pick(0x38, 0x60)}
	for _, d := range descriptors {
		circle = append(circle, d+2*width)
	}
	h.random.Shuffle(len(circle)-1, func(i, j int) { circle[i+1], circle[j+1] = circle[j+1], circle[i+1] })
	h.circle(circle...)
}

// describe writes the descriptor of the uncommitted range behind a run.
func (h *heapMaker) describe(r *run, last uint64) uint64 {
	v, width := h.v, h.v.width()
	if v.Old() { // Next, Address, Size, filler; Next is written with the segment
		d := h.spare
		h.spare += 4 * width
		h.pointer(d+width, r.to)
		h.pointer(d+2*width, r.hole)
		return d
	}
	d := last + v.granule()
	h.circle(d)
	h.pointer(d+4*width, r.to)
	h.pointer(d+5*width, r.hole)
	return d
}

// oldSegment writes the header of a segment of Windows XP or 2003.
func (h *heapMaker) oldSegment(s *madeSegment, uncommitted uint64, descriptors []uint64) {
	v, at := h.v, s.base
	h.u32(at+2*v.width(), 0xFFEEFFEE)
	if s.base == h.handle {
		at += v.heap.size
		h.u32(at+2*v.width(), 0xFFEEFFEE)
		h.links[len(h.links)-1] = at
	}
	h.pointer(at+v.pick(0x10, 0x18), h.handle)
	h.pointer(at+v.pick(0x18, 0x28), s.base)
	h.u32(at+v.pick(0x1c, 0x30), uint32(s.size/Page))
	h.pointer(at+v.pick(0x20, 0x38), s.base+s.header)
	h.pointer(at+v.pick(0x24, 0x40), s.base+s.size)
	h.u32(at+v.pick(0x28, 0x48), uint32(uncommitted/Page))
	h.u32(at+v.pick(0x2c, 0x4c), uint32(len(descriptors)))
	link := at + v.pick(0x30, 0x50)
	for _, d := range descriptors {
		h.pointer(link, d)
		link = d
	}
	h.pointer(link, 0)
}

// writeHeader writes _HEAP.
func (h *heapMaker) writeHeader(segments []madeSegment, virtual []uint64) {
	v, p, base := h.v, h.v.heap, h.handle
	h.u32(base+p.signature, 0xEEFFEEFF)
	flags := uint32(2)
	if h.recipe.Stacks {
		flags |= 0x08000000
		if number, at := v.interceptor(); !v.Old() {
			h.u32(base+at, uint32(number))
		}
	}
	h.u32(base+p.flags, flags)
	h.circle(append([]uint64{base + p.virtualBlocks}, virtual...)...)
	h.pointer(base+p.frontEnd, h.front)
	if v.Old() {
		for i, at := range h.links {
			h.pointer(base+p.segments+uint64(i)*v.width(), at)
		}
		h.u8(base+p.frontEndType, 1)
		if h.withLFH() {
			h.u8(base+p.frontEndType, 2)
		}
		h.writeLookaside()
		return
	}
	links := []uint64{base + p.segments}
	for _, s := range segments {
		links = append(links, s.base+v.pick(0x10, 0x18))
	}
	h.circle(links...)
	h.u32(base+p.encodeMask, 0x100000)
	h.u64(base+p.encoding+v.compact(), h.key)
	if h.front != 0 {
		h.u8(base+p.frontEndType, 2)
		h.closeZone()
	}
	counters, width := base+p.counters, v.width()
	h.pointer(counters, h.truth.Reserved)
	h.pointer(counters+width, h.truth.Committed+h.truth.Decommitted)
	h.pointer(counters+v.decommitted(), h.truth.Decommitted)
	h.u32(counters+4*width, uint32(h.truth.Segments))
	h.u32(counters+4*width+4, uint32(h.truth.Holes))
	h.u32(counters+v.pick(0x24, 0x34), 7)
}
