package ntheaptest

// virtualBlocks makes blocks that are reservations of their own, and returns their links.
func (h *heapMaker) virtualBlocks() []uint64 {
	var links []uint64
	for range h.recipe.Virtual {
		request := uint64(0x8_0000 + h.random.IntN(0x2_0000))
		commit := virtualCommit(request)
		at := h.reserve(commit + Page)
		h.commit(at, commit)
		valued := h.random.IntN(4) == 0
		t := h.trace()
		if valued && h.recipe.Stacks {
			t = h.numberedTrace()
		}
		h.virtualBlock(at, commit, request, t, valued)
		links = append(links, at)
	}
	return links
}

// virtualCommit is how much is committed for a virtual block: room for what stands before its data, in whole pages.
func virtualCommit(request uint64) uint64 { return (request + 2*Page) &^ (Page - 1) }

// virtualBlock writes _HEAP_VIRTUAL_ALLOC_ENTRY, whose list link the heap writes, and what else stands before the data.
// One with a value of the program's has the number of its trace, and no prefix.
func (h *heapMaker) virtualBlock(at, commit, request uint64, t madeTrace, valued bool) {
	v, e, unused := h.v, at+h.v.pick(0x18, 0x30), commit-request
	h.pointer(at+v.pick(0x10, 0x20), commit)
	h.pointer(at+v.pick(0x14, 0x28), commit+Page)
	flags := uint8(busy)
	b := Block{Heap: h.handle, Address: e + v.granule(), Size: request, Place: "virtual block"}
	switch {
	case !h.recipe.Stacks || h.light:
	case v.Old() || valued:
		flags |= extra
		h.value(at+2*v.width(), t)
		b.Stack = t.stack
	default: // the number of its own that the prefix has counts the prefix too
		b.Address, b.Stack = h.prefix(e, unused+2*v.granule(), t), t.stack
	}
	h.entry(e, int(unused), 0, flags, 4)
	h.p.Blocks = append(h.p.Blocks, b)
}
