package lifetimes

import "heapdrift/ingest/capture/allocations"

// heapRealloc takes a resize. Windows logs a move as Alloc(new), Free(old) and then this; what of those is missing is
// done here.
func (t *Tracker) heapRealloc(e *Event) {
	if e.Address == 0 || e.Size > maxSize || e.OldSize > maxSize {
		t.Anomalies.Malformed++
		return
	}
	id, ok := t.heap(e)
	if !ok {
		return
	}
	_, b, live := t.heaps.at(id).index.find(&t.blocks, e.Address)
	switch {
	case e.Address != e.OldAddress:
		t.move(id, e, b, live)
	case live:
		t.resize(id, b, e)
	default:
		t.adopt(id, e)
	}
}

// resize changes the size of a block in place; everything else stays.
func (t *Tracker) resize(id, b uint32, e *Event) {
	blk := t.blocks.at(b)
	delta := int64(e.Size) - int64(blk.size)
	blk.size = e.Size
	h := t.heaps.at(id)
	p := t.processes.at(h.process)
	s := t.sites.at(blk.site)
	if blk.time == allocations.BeforeTrace {
		s.before.Bytes += delta
		h.before.Bytes += delta
		p.heap.before.Bytes += delta
	}
	s.grow(e.Time, 0, delta)
	t.growHeap(h, e.Time, 0, delta)
}

// adopt takes in a block that is first met when it is resized. It is older than the trace, unless heap or process are
// not; then its allocation was lost, and now is the earliest time known.
func (t *Tracker) adopt(id uint32, e *Event) {
	h := t.heaps.at(id)
	for _, a := range t.anomalies(h.process) {
		a.AdoptedBlocks++
	}
	if h.created || t.processes.at(h.process).started {
		t.insertBlock(id, e, e.Time, noSlot)
		return
	}
	old := *e
	old.Size = e.OldSize
	t.insertBlock(id, &old, allocations.BeforeTrace, noSlot)
	if _, b, ok := t.heaps.at(id).index.find(&t.blocks, e.Address); ok {
		t.resize(id, b, e)
	}
}

// move ends the old block, starts the new one where its own events have not, and gives it to the reallocating stack:
// the one of its own Alloc event lies inside the heap.
func (t *Tracker) move(id uint32, e *Event, b uint32, live bool) {
	h := t.heaps.at(id)
	if slot, old, ok := h.index.find(&t.blocks, e.OldAddress); ok && e.OldAddress != 0 {
		// An old address that was allocated after the new one is another block already.
		if !live || t.blocks.at(old).time < t.blocks.at(b).time {
			h.index.remove(slot)
			t.endBlock(h, old, e.Time, allocations.EndRealloc, e.Stack)
		}
	}
	if !live {
		t.insertBlock(id, e, e.Time, noSlot)
		return
	}
	blk := t.blocks.at(b)
	if blk.size != e.Size {
		t.resize(id, b, e)
	}
	if e.Stack == 0 || t.sites.at(blk.site).stack == e.Stack {
		return
	}
	u, before := allocations.Usage{Count: 1, Bytes: int64(blk.size)}, blk.time == allocations.BeforeTrace
	t.sites.at(blk.site).leave(u, before)
	blk.site = t.sites.of(id, e.Stack, allocations.KindHeap)
	t.sites.at(blk.site).enter(e.Time, u, before)
}
