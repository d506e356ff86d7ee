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
