package lifetimes

import "heapdrift/ingest/capture/allocations"

// A heap takes the memory of its blocks from VirtualAlloc, so both kinds of events show the same bytes. A region is a
// heap's if an event says so (HeapRange), if it holds the heap's handle, or if it holds one of its blocks. Usually that
// shows just after the commit; the commit's rows then have KindHeapVirtual, but for parts freed before.

// granuleShift: regions begin at multiples of 64 KiB, so that every such stretch of addresses is in one region only.
const granuleShift = 16

// A granuleCache remembers where blocks were looked for already.
type granuleCache [1024]struct {
	granule uint64
	process uint32
	epoch   uint32
}

// blockAt marks the region that holds a heap's block or handle.
func (t *Tracker) blockAt(pid uint32, address uint64) {
	p := t.processes.at(pid)
	if p.epoch == 0 {
		return
	}
	granule := address >> granuleShift
	c := &t.granules[(granule^uint64(pid)<<4)%uint64(len(t.granules))]
	if c.granule == granule && c.process == pid && c.epoch == p.epoch {
		return
	}
	c.granule, c.process, c.epoch = granule, pid, p.epoch
	if r, ok := p.regions.find(address); ok {
		if r.value != heapRegion {
			r.value = heapRegion
			t.giveToHeap(p, r.base, r.end)
		}
		return
	}
	// A region older than the trace: what is committed in the same granule is in the same region.
	t.giveToHeap(p, granule<<granuleShift, (granule+1)<<granuleShift)
}

// heapRange marks addresses that the heap itself calls its own. Where the region is not known, it is from now on.
func (t *Tracker) heapRange(e *Event) {
	if _, ok := t.heap(e); !ok {
		return
	}
	base, end, ok := t.span(e)
	if !ok || base == end {
		return
	}
	p := t.withVirtual(t.process(e.Process))
	p.epoch++
	known := false
	p.regions.overlapping(base, end, func(r *interval) { r.value, known = heapRegion, true })
	if !known {
		p.reserve(base, end, heapRegion)
	}
	t.giveToHeap(p, base, end)
}

// heapRangeEnd undoes heapRange for commits to come. Memory committed until then stays the heap's.
func (t *Tracker) heapRangeEnd(e *Event) {
	if _, ok := t.heap(e); !ok {
		return
	}
	base, end, ok := t.span(e)
	if !ok {
		return
	}
	p := t.withVirtual(t.process(e.Process))
	p.epoch++
	p.regions.overlapping(base, end, func(r *interval) { r.value = 0 })
}

// giveToHeap moves the commits that have memory in [base, end) to the heap's kind.
func (t *Tracker) giveToHeap(p *process, base, end uint64) {
	p.committed.overlapping(base, end, func(v *interval) {
		c := &t.commits.commits[v.value]
		from := t.sites.at(c.site)
		if from.kind == allocations.KindHeapVirtual {
			return
		}
		u, before := allocations.Usage{Count: 1, Bytes: c.bytes}, c.time == allocations.BeforeTrace
		from.leave(u, before)
		p.virtual.leave(u, before)
		c.site = t.sites.of(from.owner, from.stack, allocations.KindHeapVirtual)
		t.sites.at(c.site).enter(t.last, u, before)
		p.heapVirtual.enter(t.last, u, before)
		p.virtualLine.add(t.last, p.virtual.live.Bytes)
	})
}
