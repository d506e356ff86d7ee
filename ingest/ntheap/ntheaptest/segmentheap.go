package ntheaptest

import "math/rand/v2"

// A segmentHeapMaker is one segment heap that is being made.
type segmentHeapMaker struct {
	*maker
	handle    uint64
	truth     *Heap
	key       uint64 // of the process
	lfhKey    uint32 // of the process
	freePages uint64
}

// segmentKeys are the numbers that all segment heaps of a process share.
func segmentKeys(seed uint64) (heap uint64, lfh uint32) {
	r := rand.New(rand.NewPCG(seed, 0x5E6))
	return r.Uint64(), r.Uint32()
}

// segmentHeap makes a segment heap and returns its handle: segments of 1 MB and of 16 MB, with blocks in pages of their own, in
// subsegments of blocks of variable size and of one size, and reservations of their own. Windows must be at least of build 18362.
func (m *maker) segmentHeap(blocks int) uint64 {
	v := m.v
	m.p.Heaps = append(m.p.Heaps, Heap{Segment: true})
	h := &segmentHeapMaker{maker: m, truth: &m.p.Heaps[len(m.p.Heaps)-1]}
	h.key, h.lfhKey = segmentKeys(m.recipe.Seed)
	m.p.SegmentKey = h.key
	h.handle = m.reserve(2 * Page)
	h.truth.Handle = h.handle
	m.zero(h.handle, 2*Page)
	m.u32(h.handle+v.pick(8, 0x10), 0xDDEEDDEE)
	m.u32(h.handle+v.pick(0xc, 0x14), 0x10000002)
	contexts := h.handle + 0x100
	if v.Bits == 64 && v.Build >= 22000 {
		contexts = h.handle + 0x140
	}
	for i, shift := range []uint64{12, 16} {
		context := contexts + uint64(i)*v.pick(0x80, 0xc0)
		size := uint64(256) << shift
		m.pointer(context, -size)
		m.u8(context+v.pick(4, 8), uint8(shift))
		m.u8(context+v.pick(5, 9), uint8(shift-12))
		m.u8(context+v.pick(6, 0xa), 2)
		links := []uint64{context + v.pick(0x44, 0x48)}
		for range max(m.recipe.Segments, 1) {
			links = append(links, h.segment(context, shift, blocks))
		}
		m.pointer(context+v.pick(0x4c, 0x58), uint64(len(links)-1))
		m.circle(links...)
		h.truth.Segments += len(links) - 1
		h.truth.Reserved += size * uint64(len(links)-1)
	}
	h.largeBlocks()
	for i, pages := range []uint64{h.truth.Reserved / Page, h.truth.Committed / Page, h.freePages} {
		m.pointer(h.handle+0x80+uint64(i)*v.width(), pages)
	}
	return h.handle
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
	h.commitUnits(base, 2<<shift)
	clear(h.at(base, int(v.pick(0x1000, 0x2000))))
	signature := base ^ context ^ h.key
	if v.Build < 26100 {
		signature ^= 0xA2E64EADA2E64EAD
	}
	h.pointer(base+v.pick(8, 0x10), signature)
	h.u8(base+v.pick(0x10, 0x20), 0xFF)
	at, page := 2, 1
	if shift == 16 {
		page = 1 + h.random.IntN(2)
	}
	for n := 0; n < blocks && at < 250; n++ {
		r := pageRange{index: at, units: min(page+h.random.IntN(12), 254-at)}
		address := base + uint64(at)<<shift
		room := uint64(r.units) << shift
		switch kind := h.random.IntN(12); {
		case kind < 2:
			r.flags = 2
			h.truth.Free++
			if kind == 0 {
				h.commitUnits(address, room)
				h.freePages += room / Page
			}
		case kind == 2:
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
			r.unused, r.extra = h.block(address, room, "backend", room-min(room-1, uint64(h.random.IntN(int(room)))))
		}
		h.describeRange(base, r)
		at += r.units
	}
	h.truth.Free++
	h.describeRange(base, pageRange{index: at, units: 256 - at, flags: 2}) // never used: not committed
	return base
}

// describeRange writes the descriptors of a range. Those inside a free range keep what was there.
func (h *segmentHeapMaker) describeRange(base uint64, r pageRange) {
	v := h.v
	for i := range r.units {
		d := base + uint64(r.index+i)*v.pick(0x10, 0x20)
		flags, number := r.flags, r.units
		if i > 0 {
			flags, number = flags&^2, i
		}
		if r.units == 256 {
			panic("ntheaptest: a range of a whole segment")
		}
		if i == 0 {
			h.u32(d, 0xCCDDCCDD)
			h.u32(d+4, uint32(r.unused))
			if h.u16(d+8, 0); r.extra {
				h.u16(d+8, 1)
			}
		}
		if v.Bits == 32 {
			flags |= uint8(h.random.IntN(8)) << 5
		} else {
			h.u8(d+0x19, uint8(h.random.IntN(17)))
		}
		h.u8(d+v.pick(0xc, 0x18), flags)
		h.u8(d+v.pick(0xf, 0x1f), uint8(number))
	}
}

// commitUnits commits memory of a segment.
func (h *segmentHeapMaker) commitUnits(at, size uint64) {
	h.commit(at, size)
	h.truth.Committed += size
}

// decommit takes pages of committed memory away, behind its beginning.
func (h *segmentHeapMaker) decommit(at, size uint64) {
	for i, r := range h.regions {
		end := r.start + uint64(len(r.bytes))
		if at <= r.start || at+size > end {
			continue
		}
		h.regions[i].bytes = r.bytes[:at-r.start]
		if at+size < end {
			h.regions = append(h.regions, region{at + size, r.bytes[at+size-r.start:]})
		}
		h.truth.Committed -= size
		return
	}
	panic("ntheaptest: what is to be decommitted is not committed")
}

// block takes a block of which at least spare bytes are not asked for, and with stacks writes the record behind its data if there is
// room for one. It returns how many are not asked for at last, and whether there is a record.
func (h *segmentHeapMaker) block(at, size uint64, place string, spare uint64) (unused uint64, extra bool) {
	v, g := h.v, h.v.granule()
	unused = min(spare, size)
	t := h.trace()
	b := Block{Heap: h.handle, Address: at, Place: place}
	if record := 2*g + g; h.recipe.Stacks && size >= record+8 {
		unused = max(unused, record+2)
		r := at + (size-unused+g-1)&^(g-1)
		clear(h.at(r, int(2*g)))
		h.u8(r+2, 1)
		h.u8(r+3, 1)
		address := t.at
		if address == 0 {
			address = v.pick(0x01010000, 0x0101000000000000)
		}
		h.pointer(r+g, address)
		b.Stack, extra = t.stack, true
	}
	b.Size = size - unused
	h.p.Blocks = append(h.p.Blocks, b)
	return unused, extra
}

// tail writes the last two bytes of a block, and says whether there are unused bytes.
func (h *segmentHeapMaker) tail(end, unused uint64, extra bool) bool {
	switch {
	case unused == 1:
		h.u8(end-1, 0x80)
	case extra:
		h.u16(end-2, uint16(unused)|0x4000)
	case unused > 1:
		h.u16(end-2, uint16(unused))
	}
	return unused > 0
}
