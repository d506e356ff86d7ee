package ntheaptest

// stampSize is the size of what page heap puts before a block's data.
func stampSize(v *WindowsVersion) uint64 { return v.pick(0x20, 0x40) }

// stamp writes it: _DPH_BLOCK_INFORMATION.
func (m *maker) stamp(at uint64, start, end uint32, requested, actual, trace uint64) {
	v := m.v
	clear(m.at(at, int(stampSize(v))))
	m.u32(at, start)
	m.pointer(at+v.pick(8, 0x10), requested)
	m.pointer(at+v.pick(0xc, 0x18), actual)
	m.pointer(at+v.pick(0x18, 0x30), trace)
	m.u32(at+v.pick(0x1c, 0x3c), end)
}

// A pageBlock is a block on pages of its own.
type pageBlock struct {
	node, user, at, size, access, requested, trace uint64
}

// pageHeap makes a page heap, with an ordinary heap of blocks with light marks, and returns its handle.
func (m *maker) pageHeap(blocks int) uint64 {
	v := m.v
	handle := m.reserve(2 * Page)
	m.zero(handle, 2*Page)
	m.p.Heaps = append(m.p.Heaps, Heap{Handle: handle, Page: true})
	truth := len(m.p.Heaps) - 1
	pool := m.reserve(uint64(blocks+4) * nodeSize(v))
	m.zero(pool, uint64(blocks+4)*nodeSize(v))
	pages := m.reserve(uint64(blocks) * 8 * Page)
	var made []pageBlock
	at := pages
	for i := range blocks {
		request := uint64(1 + m.random.IntN(3*Page))
		actual := (request + v.granule() - 1) &^ (v.granule() - 1)
		access := (actual + stampSize(v) + Page - 1) &^ (Page - 1)
		b := pageBlock{node: pool + uint64(i)*nodeSize(v), at: at, size: access + Page, access: access,
			user: at + access - actual, requested: request}
		m.commit(at, access) // the page behind is not
		t := m.trace()
		b.trace = t.at
		m.stamp(b.user-stampSize(v), 0xABCDBBBB, 0xDCBABBBB, request, actual, b.trace)
		m.p.Blocks = append(m.p.Blocks, Block{handle, b.user, request, "page heap", t.stack})
		made = append(made, b)
		m.p.Heaps[truth].Committed += access
		at += b.size
	}
	m.p.Heaps[truth].Reserved = at - pages
	root, width := handle+Page, v.width()
	table := root + v.pick(0x20, 0x38)
	m.u32(root, 0xFFEEDDCC)
	m.pointer(table, table)
	m.pointer(table+2*width, m.tree(made, table))
	m.u32(root+v.pick(0x5c, 0xa8), uint32(len(made)))
	m.pointer(root+v.pick(0x60, 0xb0), m.p.Heaps[truth].Committed)
	m.pointer(root+v.pick(0x1c, 0x30), at-pages)
	storage := pool + uint64(blocks)*nodeSize(v) // a node that describes the reservation
	m.pointer(storage+v.pick(0x14, 0x28), pages)
	m.pointer(storage+v.pick(0x18, 0x30), at-pages)
	m.pointer(root+v.pick(0x10, 0x18), storage)
	m.circle(root + v.pick(0xa4, 0x138))
	m.pointer(root+v.pick(0xb4, 0x150), m.heap(blocks, true))
	return handle
}

func nodeSize(v *WindowsVersion) uint64 { return v.pick(0x40, 0x80) }

// tree writes nodes as a balanced tree below parent and returns its root.
func (m *maker) tree(blocks []pageBlock, parent uint64) uint64 {
	if len(blocks) == 0 {
		return 0
	}
	v, width := m.v, m.v.width()
	b := blocks[len(blocks)/2]
	m.pointer(b.node, parent)
	m.pointer(b.node+width, m.tree(blocks[:len(blocks)/2], b.node))
	m.pointer(b.node+2*width, m.tree(blocks[len(blocks)/2+1:], b.node))
	for i, field := range []uint64{b.user, b.at, b.size, b.access, b.requested, b.requested} {
		m.pointer(b.node+v.pick(0x10, 0x20)+uint64(i)*width, field)
	}
	m.pointer(b.node+v.pick(0x30, 0x60), b.trace)
	return b.node
}
