package ntheaptest

// commitUnits commits memory of a segment.
func (h *segmentHeapMaker) commitUnits(at, size uint64) {
	h.commit(at, size)
	h.truth.Committed += size
}

// giveBack takes the pages from one address to another away.
func (h *segmentHeapMaker) giveBack(from, to uint64) {
	h.decommit(from, to-from)
	h.truth.Committed -= to - from
}

// padded says whether blocks begin with bytes of the heap's own.
func (h *segmentHeapMaker) padded() bool { return h.v.Build < 22000 && !h.recipe.System }

// padding is how many bytes a block of size bytes, of which spare are not asked for, has before the program's.
func (h *segmentHeapMaker) padding(size, spare uint64) uint64 {
	g := h.v.granule()
	switch {
	case !h.padded():
		return 0
	case !h.v.unmarkedPadding() && size > spare+4*g+h.v.pick(0x7EFF0, 0xFEFF8):
		return 4 * g
	}
	return g
}

// pad writes padding, whose first word says how large it is, and that of the last granule too. In 16299 and before
// nothing says so: there lies what lay there before, and large blocks have it at their end.
func (h *segmentHeapMaker) pad(at, padding uint64, large bool) (user uint64) {
	g := h.v.granule()
	switch {
	case padding == 0 || h.v.unmarkedPadding() && large:
		return at
	case h.v.unmarkedPadding():
		h.pointer(at, []uint64{0, g, 4 * g, h.random.Uint64()}[h.random.IntN(4)])
	default:
		h.pointer(at, padding)
		h.pointer(at+padding-g, padding)
	}
	return at + padding
}

// block takes a block of which at least spare bytes are not asked for, and with stacks writes the record behind its
// data if there is room for one. It returns how many are not asked for at last, and whether there is a record. Pages
// behind may be given back.
func (h *segmentHeapMaker) block(at, size uint64, place string, spare uint64) (unused uint64, extra bool) {
	v, g, whole := h.v, h.v.granule(), place == "backend" || place == "large"
	padding := h.padding(size, spare)
	spare = min(spare, size-padding)
	t := h.trace()
	b := Block{Heap: h.handle, Address: h.pad(at, padding, place == "large"), Place: place}
	unused = spare
	end := at + size - unused // of what must be committed
	if record := 2*g + g; h.recipe.Stacks && size >= record+padding+8 {
		unused = max(unused, record+2)
		r := at + (size-unused+g-1)&^(g-1)
		h.record(r, t)
		b.Stack, extra, end = t.stack, true, r+g+v.width()
	}
	b.Size = size - unused - padding
	h.p.Blocks = append(h.p.Blocks, b)
	if from, to := (end+Page-1)&^(Page-1), at+size; whole && from > at && from < to && h.random.IntN(2) == 0 {
		h.giveBack(from, to)
	}
	return unused, extra
}

// record writes a _SEGMENT_HEAP_EXTRA and the address of a trace: the number of what keeps stacks and flags of the
// program's, the size in granules, and a value of the program's.
func (h *segmentHeapMaker) record(at uint64, t madeTrace) {
	v, g := h.v, h.v.granule()
	clear(h.at(at, int(2*g)))
	h.u8(at+2, 1|uint8(h.random.IntN(16))<<4)
	h.u8(at+3, 3)
	h.pointer(at+v.width(), uint64(h.random.IntN(2))*h.random.Uint64())
	address := t.at
	if address == 0 {
		address = v.pick(0x01010000, 0x0101000000000000)
	}
	h.pointer(at+g, address)
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
