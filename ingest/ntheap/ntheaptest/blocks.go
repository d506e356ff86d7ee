package ntheaptest

// The flags of entries.
const (
	busy     = 1
	extra    = 2
	internal = 8
)

// An item is what a run is filled with.
type item struct {
	kind     itemKind
	granules int
	request  uint64
	slack    bool // more unused bytes than an entry can say
	lfh      *container
}

type itemKind uint8

const (
	itemBusy itemKind = iota
	itemFree
	itemLookaside
	itemZone
	itemContainer
	itemOwn // the index of free blocks
)

// items chooses what a run holds; the first run of a heap has what the low-fragmentation heap needs.
func (h *heapMaker) items(blocks int, first bool) []item {
	var items []item
	withLFH := h.recipe.LFH && !h.v.Old()
	if first && !h.v.Old() {
		items = append(items, item{kind: itemOwn, granules: 40})
	}
	if first && withLFH {
		items = append(items, item{kind: itemZone, granules: int(zoneSize / h.v.granule())})
	}
	for i := range blocks {
		switch n := h.random.IntN(10); {
		case n == 0:
			items = append(items, item{kind: itemFree, granules: 2 + h.random.IntN(40)})
		case n == 1 && h.v.Old():
			items = append(items, item{kind: itemLookaside, granules: 2 + h.random.IntN(4)})
		default:
			items = append(items, h.busyItem(i%97 == 5))
		}
		if withLFH && i%16 == 3 && h.zone.planned < zoneRoom(h.v) {
			h.zone.planned++
			items = append(items, h.planContainer())
		}
	}
	return items
}

// busyItem chooses a block that a program has asked for.
func (h *heapMaker) busyItem(slack bool) item {
	v, g := h.v, h.v.granule()
	it := item{request: uint64(1 + h.random.IntN(300))}
	if h.random.IntN(20) == 0 {
		it.request = uint64(h.random.IntN(9000))
	}
	room := it.request + 8 // of a 64-bit entry half lies in the block before
	if h.light {
		room += stampSize(v)
	}
	switch {
	case v.Old() && h.recipe.Stacks:
		room = it.request + 2*g
	case v.Old():
		room = it.request + g
	case h.recipe.Stacks && !h.light:
		room = it.request + 2*g + 8
	case slack && !h.light:
		it.slack = true
		room += 0x80
	}
	it.granules = max(2, int((room+g-1)/g))
	return it
}

// fill writes the entries of a run and returns the last, which has room for a descriptor.
func (h *heapMaker) fill(r *run, previous uint16) uint64 {
	at, g := r.from, h.v.granule()
	for _, it := range r.items {
		h.writeItem(at, it, previous)
		previous = uint16(it.granules)
		at += uint64(it.granules) * g
	}
	rest := int((r.to - at - h.lastBlock()) / g)
	h.entry(at, rest, previous, 0, 0)
	h.truth.Free++
	at += uint64(rest) * g
	if h.lastBlock() > 0 {
		h.entry(at, int(h.lastBlock()/g), uint16(rest), busy, 3)
	}
	return at
}

func (h *heapMaker) writeItem(at uint64, it item, previous uint16) {
	g := h.v.granule()
	switch it.kind {
	case itemFree:
		h.entry(at, it.granules, previous, 0, 0)
		h.truth.Free++
	case itemLookaside:
		h.entry(at, it.granules, previous, busy, 8)
		h.lists[it.granules] = append(h.lists[it.granules], at+g)
		h.truth.Free++
	case itemOwn:
		h.entry(at, it.granules, previous, busy, 1)
	case itemZone:
		h.entry(at, it.granules, previous, busy|internal, 8)
		h.zone.at = at + g
	case itemContainer:
		h.entry(at, it.granules, previous, busy|internal, 8)
		h.writeContainer(at+g, it.lfh)
	default:
		h.writeBusy(at, it, previous)
	}
}

// writeBusy writes a block of a program.
func (h *heapMaker) writeBusy(at uint64, it item, previous uint16) {
	v, g := h.v, h.v.granule()
	size, t := uint64(it.granules)*g, h.trace()
	b := Block{Heap: h.handle, Address: at + g, Size: it.request, Place: "backend", Stack: t.stack}
	unused := size - it.request
	switch {
	case h.light:
		h.entry(at, it.granules, previous, busy|extra, uint8(unused-stampSize(v)))
		h.stamp(at+g, 0xABCDAAAA, 0xDCBAAAAA, it.request, it.request, t.at)
		b.Address += stampSize(v)
	case v.Old():
		flags := uint8(busy)
		if h.recipe.Stacks {
			flags |= extra
			clear(h.at(at+size-g, int(g)))
			h.u16(at+size-g, t.number)
		}
		h.entry(at, it.granules, previous, flags, uint8(unused))
	case h.recipe.Stacks:
		h.entry(at, it.granules, previous, busy, 0x3F)
		b.Address = h.prefix(at, unused, t)
	case it.slack:
		h.entry(at, it.granules, previous, busy, 0x3F)
		h.u32(at+size-4, uint32(unused))
	default:
		h.entry(at, it.granules, previous, busy, uint8(unused))
	}
	h.p.Blocks = append(h.p.Blocks, b)
}

// prefix writes what stands before the data of a block with a stack trace, and returns where these begin.
func (h *heapMaker) prefix(at, unused uint64, t madeTrace) uint64 {
	g := h.v.granule()
	trace := t.at
	if trace == 0 {
		trace = h.v.pick(0x01010000, 0x0101000000000000)
	}
	h.pointer(at+g, trace)
	x := at + 2*g + h.v.compact()
	h.u16(x, 1)
	h.u16(x+2, 0)
	h.u16(x+4, uint16(unused))
	h.u8(x+6, 2)
	h.u8(x+7, 5)
	return at + 3*g
}

// entry writes a _HEAP_ENTRY.
func (h *heapMaker) entry(at uint64, granules int, previous uint16, flags, unused uint8) {
	if granules < 1 || granules > 0xFFFF {
		panic("ntheaptest: a block of no size, or too large for an entry")
	}
	at += h.v.compact()
	low, high := uint8(granules), uint8(granules>>8)
	if h.v.Old() {
		h.u16(at, uint16(granules))
		h.u16(at+2, previous)
		copy(h.at(at+4, 4), []byte{0, flags, unused, 0})
		return
	}
	v := uint64(low) | uint64(high)<<8 | uint64(flags)<<16 | uint64(low^high^flags)<<24 | uint64(previous)<<32 | uint64(unused)<<56
	h.u64(at, v^h.key)
}

// virtualBlocks makes blocks that are reservations of their own, and returns their links.
func (h *heapMaker) virtualBlocks() []uint64 {
	v, g := h.v, h.v.granule()
	var links []uint64
	for range h.recipe.Virtual {
		request := uint64(0x8_0000 + h.random.IntN(0x2_0000))
		commit := (request + 2*Page) &^ (Page - 1)
		at := h.reserve(commit + Page)
		h.commit(at, commit)
		h.pointer(at+v.pick(0x10, 0x20), commit)
		h.pointer(at+v.pick(0x14, 0x28), commit+Page)
		e, t, unused := at+v.pick(0x18, 0x30), h.trace(), commit-request
		flags := uint8(busy)
		if v.Old() && h.recipe.Stacks {
			flags |= extra
			h.u16(at+2*v.width(), t.number)
		}
		h.entry(e, int(unused), 0, flags, 4)
		b := Block{Heap: h.handle, Address: e + g, Size: request, Place: "virtual block"}
		if h.recipe.Stacks && !v.Old() && !h.light {
			b.Address, b.Stack = h.prefix(e, unused, t), t.stack
		} else if v.Old() {
			b.Stack = t.stack
		}
		h.p.Blocks = append(h.p.Blocks, b)
		links = append(links, at)
	}
	return links
}
