package ntheaptest

import "slices"

// lfh makes a subsegment of blocks of one size in room bytes, which are committed.
func (h *segmentHeapMaker) lfh(at, room uint64) {
	v, g := h.v, h.v.granule()
	sizes := []uint64{1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 32, 48, 64, 68, 96}
	if h.padded() {
		sizes = sizes[1:]
	}
	stride := sizes[h.random.IntN(len(sizes))] * g
	for stride > room/6 {
		stride = sizes[h.random.IntN(len(sizes))] * g
	}
	if h.lfhs++; h.lfhs == 1 && h.recipe.System {
		stride = g
	}
	slack := uint64(h.random.IntN(3)) * g
	bits := v.pick(0x20, 0x30)
	if v.Build >= 26100 {
		bits = 0x40
	}
	count := room / stride
	first := uint64(0)
	for ; ; count-- {
		words := (2*count + uint64(v.Bits) - 1) / uint64(v.Bits)
		first = (bits+words*v.width()+g-1)&^(g-1) + slack
		if first+count*stride <= room {
			break
		}
	}
	clear(h.at(at, int(first)))
	free := 0
	for i := range count {
		block := at + first + i*stride
		state := uint8(0)
		if h.random.IntN(4) > 0 {
			state = 1
			unused, extra := h.block(block, stride, "LFH", uint64(h.random.IntN(int(g))))
			if h.tail(block+stride, unused, extra) {
				state |= 2
			}
		} else {
			free++
			h.truth.FreeLFH++
		}
		h.markBlock(at+bits, i, state)
	}
	h.u16(at+v.pick(0x10, 0x20), uint16(free))
	h.u16(at+v.pick(0x12, 0x22), uint16(count))
	h.u32(at+v.pick(0x18, 0x28), uint32(first<<16|stride)^h.lfhKey^uint32(at>>12))
}

// markBlock sets the two bits of a block: beside each other, or from 24H2 on in the two halves of a word for each 32
// blocks.
func (h *segmentHeapMaker) markBlock(bits, i uint64, state uint8) {
	if h.v.Build < 26100 {
		h.at(bits+i/4, 1)[0] |= state << (i % 4 * 2)
		return
	}
	word := h.at(bits+i/32*8, 8)
	word[i%32/8] |= state & 1 << (i % 8)
	word[4+i%32/8] |= state >> 1 << (i % 8)
}

// vs makes a subsegment of blocks of variable size in room bytes.
func (h *segmentHeapMaker) vs(at, room uint64) {
	v, g := h.v, h.v.granule()
	first := v.pick(0x18, 0x30)
	units := uint16((room - first) / g)
	clear(h.at(at, int(first)))
	h.u16(at+v.pick(0x14, 0x20), units)
	h.u16(at+v.pick(0x16, 0x22), (units^0x2BED)&0x7FFF|uint16(h.random.IntN(2))<<15)
	previous := uint64(0)
	for c, end := at+first, at+room; c < end; {
		size := uint64(2+h.random.IntN(60)) * g
		if h.random.IntN(16) == 0 {
			size = uint64(64+h.random.IntN(960)) * g
		}
		if size += g; end-c < size+2*g {
			size = end - c
		}
		h.chunk(c, size, previous)
		previous = size
		c += size
	}
}

// chunk makes one chunk: free, of a block, of a subsegment of blocks of one size, or one that is to be skipped.
func (h *segmentHeapMaker) chunk(at, size, previous uint64) {
	v, g := h.v, h.v.granule()
	user, room := at+g, size-g
	allocated, bits := uint64(1), uint32(0)
	kind := h.random.IntN(10)
	switch {
	case kind < 2:
		allocated, bits = 0, 0x5A5A5A5A
		h.truth.Free++
		from, to := (at+g+64+Page-1)&^(Page-1), (at+size)&^(Page-1)
		if to > from {
			defer h.giveBack(from, to)
		}
	case kind == 2 && room >= 0x400:
		h.lfh(user, room-2)
		h.u16(user+room-2, 2|0x2000)
		bits = 1 << 8
	case kind == 3 && room < 0x40:
		bits = 1 << 9
	default:
		spare := uint64(h.random.IntN(int(min(g, room))))
		unused, extra := h.block(user, room, "VS", spare)
		if h.tail(user+room, unused, extra) {
			bits = 1 << 8
		}
	}
	if v.Bits == 64 {
		sizes := uint64(h.random.IntN(1<<16)) | size/g<<16 | previous/g<<32 | allocated<<48 | uint64(h.random.IntN(256))<<56
		h.u64(at, sizes^at^h.key)
		h.u32(at+8, bits|uint32(uint8(h.random.IntN(256))))
		return
	}
	sizes := uint32(h.random.IntN(2)) | uint32(size/g)<<1 | uint32(previous/g)<<16 | uint32(allocated)<<31
	h.u32(at, sizes^uint32(at)^uint32(h.key))
	h.u32(at+4, bits|uint32(uint8(h.random.IntN(256))))
}

// largeBlocks makes blocks that are reservations of their own, and the tree that knows them.
func (h *segmentHeapMaker) largeBlocks() {
	v := h.v
	if h.recipe.Virtual == 0 {
		return
	}
	size := v.pick(0x18, 0x28)
	pool := h.reserve(uint64(h.recipe.Virtual) * size)
	h.zero(pool, (uint64(h.recipe.Virtual)*size+Page-1)&^(Page-1))
	var nodes []uint64
	large := uint64(0)
	for i := range h.recipe.Virtual {
		pages := uint64(130 + h.random.IntN(64))
		large += pages
		at := h.reserve(pages * Page)
		h.commitUnits(at, pages*Page)
		h.truth.Reserved += pages * Page
		unused, extra := h.block(at, pages*Page, "large", uint64(h.random.IntN(0x8000)))
		node := pool + uint64(i)*size
		word := pages << 12
		if extra {
			word |= 1
		}
		h.pointer(node+v.pick(0xc, 0x18), at|unused)
		h.pointer(node+v.pick(0x10, 0x20), word)
		nodes = append(nodes, node)
	}
	for i := range uint64(2) { // LargeReservedPages, LargeCommittedPages
		h.pointer(h.handle+h.places.largePages+i*v.width(), large)
	}
	tree := h.handle + h.places.large
	encode := uint64(h.random.IntN(2))
	root := h.balanced(nodes, 0, encode)
	h.pointer(tree, root^tree*encode)
	h.pointer(tree+v.width(), slices.Min(nodes)&^1^tree&^1*encode|encode)
}

// balanced writes nodes as a tree of _RTL_BALANCED_NODE below parent, encoded or not, and returns its root.
func (h *segmentHeapMaker) balanced(nodes []uint64, parent, encode uint64) uint64 {
	if len(nodes) == 0 {
		return 0
	}
	half := len(nodes) / 2
	node := nodes[half]
	code := func(v uint64) uint64 {
		if v == 0 {
			return 0
		}
		return v ^ node*encode
	}
	h.pointer(node, code(h.balanced(nodes[:half], node, encode)))
	h.pointer(node+h.v.width(), code(h.balanced(nodes[half+1:], node, encode)))
	h.pointer(node+2*h.v.width(), code(parent)|uint64(h.random.IntN(2)))
	return node
}
