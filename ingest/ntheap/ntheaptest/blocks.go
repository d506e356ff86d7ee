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
	form     form
	lfh      *container
}

// A form is what of the place of a busy block is not the program's.
type form uint8

const (
	formPlain form = iota
	formTrace      // a prefix with a trace, or before Vista its number at the end
	formStale      // what is left of such a prefix, in the program's bytes
	formValue      // a value of the program's at the end
	formSlack      // more unused bytes than an entry can say
)

type itemKind uint8

const (
	itemBusy itemKind = iota
	itemFree
	itemHollow // free, with pages that were given back
	itemLookaside
	itemZone
	itemContainer
	itemOwn // the index of free blocks
)

// items chooses what a run holds; the first run of a heap has what the low-fragmentation heap needs.
func (h *heapMaker) items(blocks int, first bool) []item {
	var items []item
	withLFH := h.withLFH()
	if first && !h.v.Old() {
		items = append(items, item{kind: itemOwn, granules: 40})
	}
	if first && withLFH && !h.v.Old() {
		items = append(items, item{kind: itemZone, granules: int(zoneSize / h.v.granule())})
	}
	for i := range blocks {
		switch n := h.random.IntN(10); {
		case n == 0:
			items = append(items, item{kind: itemFree, granules: 2 + h.random.IntN(40)})
		case n == 1 && !h.v.Old() && i%8 == 0:
			items = append(items, item{kind: itemHollow, granules: int((3*Page + uint64(h.random.IntN(Page))) / h.v.granule())})
		case n == 1 && h.v.Old() && !withLFH:
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
	it := item{request: uint64(1 + h.random.IntN(300)), form: h.form(slack)}
	switch h.random.IntN(20) {
	case 0:
		it.request = uint64(h.random.IntN(9000))
	case 1:
		it.request = 0
	}
	room := it.request + 8 // of a 64-bit entry half lies in the block before
	if v.Old() {
		room = it.request + g
	}
	switch {
	case h.light:
		room += stampSize(v)
	case it.form == formSlack && v.Old():
		room += 0x100 + uint64(h.random.IntN(0x100))
	case it.form == formSlack:
		room += 0x37 + uint64(h.random.IntN(0x100))
	case it.form == formValue, it.form == formTrace && v.Old():
		room += g
	case it.form == formTrace || it.form == formStale:
		room += 2 * g
	}
	it.granules = max(2, int((room+g-1)/g))
	return it
}

// form chooses one that blocks of the process have.
func (h *heapMaker) form(slack bool) form {
	n := h.random.IntN(12)
	switch {
	case h.light:
		return formPlain
	case h.recipe.Stacks && (n > 1 || h.v.Old()):
		return formTrace
	case h.recipe.Stacks && n == 1:
		return formStale
	case n == 0 && !h.v.Old():
		return formValue
	case slack:
		return formSlack
	}
	return formPlain
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
	case itemHollow:
		h.entry(at, it.granules, previous, 0, 0)
		h.truth.Free++
		from, to := (at+3*g+Page-1)&^(Page-1), (at+uint64(it.granules)*g)&^(Page-1)
		h.decommit(from, to-from)
		h.truth.Decommitted += to - from
		h.truth.Committed -= to - from
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
	case it.form == formValue || it.form == formTrace && v.Old():
		if h.recipe.Stacks {
			t = h.numberedTrace()
		}
		b.Stack = t.stack
		h.value(at+size-g, t)
		h.entry(at, it.granules, previous, busy|extra, h.unused(at+size, unused))
	case it.form == formTrace:
		h.entry(at, it.granules, previous, busy, prefixed)
		b.Address = h.prefix(at, unused, t)
	case it.form == formStale:
		h.prefix(at, 3, t)
		b.Stack = nil
		fallthrough
	default:
		h.entry(at, it.granules, previous, busy, h.unused(at+size, unused))
	}
	h.p.Blocks = append(h.p.Blocks, b)
}

// value writes a _HEAP_ENTRY_EXTRA: the number of a trace, a tag, and a value of the program's.
func (h *heapMaker) value(at uint64, t madeTrace) {
	h.u16(at, t.number)
	h.u16(at+2, uint16(h.random.IntN(0x100)))
	h.pointer(at+h.v.width(), h.random.Uint64())
}

// unused is what an entry says of the unused bytes of a block that ends at end. A number that is too large for it is in
// the last word that the program may use: with 64 bits the next entry lends that.
func (h *heapMaker) unused(end, unused uint64) uint8 {
	switch most := h.mostUnused(); {
	case unused < most:
		return uint8(unused)
	case h.v.Old():
		h.u32(end-4, uint32(unused))
		return uint8(most)
	default:
		h.u16(end+h.v.compact()-h.v.width(), uint16(unused))
		return uint8(most)
	}
}

// mostUnused is what an entry says where the number of unused bytes is too large for it.
func (h *heapMaker) mostUnused() uint64 {
	if h.v.Old() {
		return 0xFF
	}
	return 0x3F
}

// prefixed is UnusedBytes of a block with a prefix.
const prefixed = 0x42

// prefix writes what stands before the data of a block with a stack trace, and returns where these begin.
func (h *heapMaker) prefix(at, unused uint64, t madeTrace) uint64 {
	g := h.v.granule()
	trace := t.at
	if trace == 0 {
		trace = h.v.pick(0x01010000, 0x0101000000000000)
	}
	h.pointer(at+g, trace)
	x := at + 2*g + h.v.compact()
	number, _ := h.v.interceptor()
	h.u16(x, number)
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
	v := uint64(low) | uint64(high)<<8 | uint64(flags)<<16 | uint64(low^high^flags)<<24 |
		uint64(previous)<<32 | uint64(unused)<<56
	h.u64(at, v^h.key)
}
