package ntheaptest

// zoneSize is the size of a zone with its entry.
const zoneSize = 0x400

// A zone is what subsegments are cut from.
type zone struct {
	at            uint64
	planned, used int
}

// zoneRoom is how many subsegments a zone has room for. One more stays empty.
func zoneRoom(v *WindowsVersion) int {
	return int((zoneSize-v.granule()-v.lfh.subsegments)/v.lfh.subsegmentSize) - 1
}

// A container is planned before it is known where it lies.
type container struct {
	granules, count int
	requests        []uint64
}

// freeBlock is the request of a free block.
const freeBlock = ^uint64(0)

// withLFH says whether a heap has a low-fragmentation heap. That of Windows XP is off where stacks are kept.
func (h *heapMaker) withLFH() bool {
	return h.recipe.LFH && (!h.v.Old() || h.v.Bits == 32 && !h.recipe.Stacks)
}

func (h *heapMaker) planContainer() item {
	g := h.v.granule()
	c := &container{granules: 2 + h.random.IntN(12), count: 1 + h.random.IntN(90)}
	least := 8
	if h.recipe.Stacks {
		c.granules += 3
		least = int(2*g + 8)
	}
	spare := 12
	if h.random.IntN(4) == 0 { // more than an entry can say
		c.granules += 70
		spare = c.granules*int(g) - least
		c.count = 1 + c.count/8
	}
	for range c.count {
		request := freeBlock
		if h.random.IntN(3) > 0 {
			request = uint64(max(0, c.granules*int(g)-least-h.random.IntN(spare)))
		}
		c.requests = append(c.requests, request)
	}
	size := g + h.firstBlock(c) + uint64(c.count*c.granules)*g
	return item{kind: itemContainer, granules: int((size + g - 1) / g), lfh: c}
}

// firstBlock is where blocks begin in a container.
func (h *heapMaker) firstBlock(c *container) uint64 {
	g, header := h.v.granule(), h.v.lfh.headerSize
	if h.v.lfh.offsets != 0 { // a bitmap is behind the header
		header += uint64(c.count+31) / 32 * 4
	}
	return (header + g - 1) &^ (g - 1)
}

// writeContainer writes a container, its subsegment and its blocks.
func (h *heapMaker) writeContainer(at uint64, c *container) {
	v, l, g := h.v, h.v.lfh, h.v.granule()
	if v.Old() {
		h.oldContainer(at, c)
		return
	}
	subsegment := h.zone.at + l.subsegments + uint64(h.zone.used)*l.subsegmentSize
	h.zone.used++
	clear(h.at(subsegment, int(l.subsegmentSize)))
	h.pointer(subsegment+l.userBlocks, at)
	h.u16(subsegment+l.blockSize, uint16(c.granules))
	h.u16(subsegment+l.blockCount, uint16(c.count))
	first, stride := h.firstBlock(c), uint64(c.granules)*g
	clear(h.at(at, int(first)))
	h.pointer(at, subsegment)
	h.u32(at+l.signature, 0xF0E0D0C0)
	switch {
	case l.encoded:
		h.u32(at+l.offsets, (uint32(stride)<<16|uint32(first))^uint32(at)^uint32(h.front)^h.p.LFHKey)
	case l.offsets != 0:
		h.u16(at+l.offsets, uint16(first))
		h.u16(at+l.offsets+2, uint16(stride))
	}
	for i, request := range c.requests {
		e := at + first + uint64(i)*stride
		h.u64(e+v.compact(), uint64(h.random.Uint32())|uint64(i)<<32|0x80<<56)
		if request == freeBlock {
			h.truth.FreeLFH++
			continue
		}
		if l.bits != 0 {
			byteAt := at + l.bits + uint64(i)/8
			h.u8(byteAt, h.at(byteAt, 1)[0]|1<<(i%8))
		}
		t, unused := h.trace(), stride-request
		b := Block{Heap: h.handle, Address: e + g, Size: request, Place: "LFH", Stack: t.stack}
		state := uint8(0x80)
		switch {
		case h.recipe.Stacks && h.random.IntN(8) > 0:
			state |= prefixed
			b.Address = h.prefix(e, unused, t)
		case h.recipe.Stacks: // what was there before had a prefix
			h.prefix(e, unused, t)
			b.Stack = nil
			fallthrough
		default:
			state |= h.unused(e+stride, unused)
		}
		h.u8(e+v.compact()+7, state)
		h.p.Blocks = append(h.p.Blocks, b)
	}
}

// closeZone links the zone and says how much of it is used.
func (h *heapMaker) closeZone() {
	l := h.v.lfh
	if h.zone.at == 0 {
		return
	}
	h.circle(h.front+l.zones, h.zone.at)
	after := h.zone.at + l.subsegments + uint64(h.zone.used)*l.subsegmentSize
	clear(h.at(after, int(l.subsegmentSize)))
	if l.pointerEnd {
		h.pointer(h.zone.at+l.zoneEnd, after)
	} else {
		h.u32(h.zone.at+l.zoneEnd, uint32(h.zone.used))
	}
}
