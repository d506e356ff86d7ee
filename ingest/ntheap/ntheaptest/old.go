package ntheaptest

// writeLookaside writes the lists of free blocks of Windows XP and 2003: an SLIST_HEADER for each number of granules.
func (h *heapMaker) writeLookaside() {
	v := h.v
	for granules, blocks := range h.lists {
		head := h.front + uint64(granules)*v.pick(0x30, 0x40)
		for i, at := range blocks {
			next := uint64(0)
			if i+1 < len(blocks) {
				next = blocks[i+1]
			}
			h.pointer(at, next)
		}
		if v.Bits == 64 { // the depth in 16 bits, a sequence number in 9, the address without its lowest 4 bits in 39
			h.u64(head, uint64(len(blocks))|0x55<<16|blocks[0]>>4<<25)
		} else {
			h.u32(head, uint32(blocks[0]))
			h.u16(head+4, uint16(len(blocks)))
		}
	}
}

// oldContainer writes a container of the low-fragmentation heap of Windows XP, whose subsegments are kept in the front
// end's pages here. Of the unused bytes of a block its entry has the lowest byte, and that is what ntdll takes for the
// number.
func (h *heapMaker) oldContainer(at uint64, c *container) {
	const subsegmentSize, first = 0x20, 0x10
	subsegment := h.front + 3*Page + uint64(h.zone.used)*subsegmentSize
	h.zone.used++
	h.pointer(subsegment+4, at)
	h.u16(subsegment+0x10, uint16(c.granules))
	h.u16(subsegment+0x14, uint16(c.count))
	h.pointer(at, subsegment)
	h.u32(at+0xc, 0xF0E0D0C0)
	g := h.v.granule()
	stride := uint64(c.granules) * g
	for i, request := range c.requests {
		e := at + first + uint64(i)*stride
		h.u32(e, h.random.Uint32())
		if request == freeBlock {
			copy(h.at(e+4, 4), []byte{0, 0, 0, 0})
			h.truth.FreeLFH++
			continue
		}
		unused := stride - request
		copy(h.at(e+4, 4), []byte{0, busy, uint8(unused), 0})
		if uint8(unused) == 0xFF {
			h.u32(e+stride-4, uint32(unused))
		}
		h.p.Blocks = append(h.p.Blocks, Block{Heap: h.handle, Address: e + g, Size: stride - unused&0xFF, Place: "LFH"})
	}
}
