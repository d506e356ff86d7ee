package lifetimes

import "heapdrift/ingest/capture/allocations"

func (t *Tracker) heapAlloc(e *Event) {
	if e.Address == 0 || e.Size > maxSize {
		t.Anomalies.Malformed++
		return
	}
	id, ok := t.heap(e)
	if !ok {
		return
	}
	h := t.heaps.at(id)
	slot, old, live := h.index.find(&t.blocks, e.Address)
	if live {
		for _, a := range t.anomalies(h.process) {
			a.LostFrees++
		}
		h.index.remove(slot)
		t.endBlock(h, old, e.Time, allocations.EndLost, 0)
		slot = noSlot
	}
	t.insertBlock(id, e, e.Time, slot)
}

// insertBlock starts a block at the event's address, which is free; since is its allocation time, and slot where
// looking for the address ended.
func (t *Tracker) insertBlock(id uint32, e *Event, since int64, slot int) {
	b, ok := t.blocks.add()
	if !ok {
		t.tooMany()
		return
	}
	h := t.heaps.at(id)
	site := t.sites.of(id, e.Stack, allocations.KindHeap)
	*t.blocks.at(b) = block{address: e.Address, size: e.Size, time: since, site: site, thread: e.Thread}
	h.index.insert(e.Address, b, slot)
	p := t.processes.at(h.process)
	if since == allocations.BeforeTrace {
		t.sites.at(site).adopt(e.Time, int64(e.Size))
		h.adopt(e.Time, int64(e.Size))
		h.timeline.adopt(e.Time, int64(e.Size), h.live.Bytes)
		p.heap.adopt(e.Time, int64(e.Size))
		p.heapLine.adopt(e.Time, int64(e.Size), p.heap.live.Bytes)
	} else {
		t.sites.at(site).grow(e.Time, 1, int64(e.Size))
		t.growHeap(h, e.Time, 1, int64(e.Size))
	}
	if p.epoch != 0 {
		t.blockAt(h.process, e.Address)
	}
}

// growHeap adds to a heap and its process.
func (t *Tracker) growHeap(h *heap, at, count, bytes int64) {
	h.grow(at, count, bytes)
	h.timeline.add(at, h.live.Bytes)
	p := t.processes.at(h.process)
	p.heap.grow(at, count, bytes)
	p.heapLine.add(at, p.heap.live.Bytes)
}

func (t *Tracker) heapFree(e *Event) {
	if e.Address == 0 { // free(NULL)
		return
	}
	id, ok := t.heap(e)
	if !ok {
		return
	}
	h := t.heaps.at(id)
	slot, b, live := h.index.find(&t.blocks, e.Address)
	if !live {
		t.unknownFree(id, e)
		return
	}
	h.index.remove(slot)
	t.endBlock(h, b, e.Time, allocations.EndFree, e.Stack)
}

// unknownFree notes a free whose allocation was not seen.
func (t *Tracker) unknownFree(id uint32, e *Event) {
	h := t.heaps.at(id)
	site := t.sites.of(id, 0, allocations.KindHeap)
	inside := (h.created || t.processes.at(h.process).started) && !h.mayBeUnlogged(e.Address)
	for _, a := range t.anomalies(h.process) {
		a.UnknownFrees++
		if inside {
			a.LostAllocations++
		}
	}
	t.sites.at(site).unknownFrees++
	h.unknownFrees++
	t.processes.at(h.process).heap.unknownFrees++
	*t.rows.next() = allocations.Row{
		AllocTime: allocations.BeforeTrace, FreeTime: e.Time, Address: e.Address, Heap: e.Heap,
		Site: site, Process: e.Process,
		FreeStack: e.Stack, End: allocations.EndFree, UnknownFree: true,
	}
}

// endBlock writes a block's row and takes it out of the accounts. The caller takes it out of the heap's index.
func (t *Tracker) endBlock(h *heap, id uint32, at int64, how allocations.End, freeStack uint32) {
	b := t.blocks.at(id)
	s := t.sites.at(b.site)
	p := t.processes.at(h.process)
	*t.rows.next() = allocations.Row{
		AllocTime: b.time, FreeTime: max(at, b.time), Address: b.address, Size: b.size, Heap: h.handle, Site: b.site,
		Process: p.instance, Thread: b.thread, Stack: s.stack, FreeStack: freeStack, End: how,
	}
	if how == allocations.EndNone {
		return
	}
	u, before := allocations.Usage{Count: 1, Bytes: int64(b.size)}, b.time == allocations.BeforeTrace
	s.end(u, before, how)
	h.end(u, before, how)
	h.timeline.add(at, h.live.Bytes)
	p.heap.end(u, before, how)
	p.heapLine.add(at, p.heap.live.Bytes)
	t.blocks.remove(id)
}
