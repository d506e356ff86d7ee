package lifetimes

import "heapdrift/ingest/capture/allocations"

// heapRegion is the value of a region that a heap uses.
const heapRegion = 1

// span is the addresses of an event of virtual memory; ok is false where they cannot be.
func (t *Tracker) span(e *Event) (base, end uint64, ok bool) {
	if e.Address > maxSize || e.Size > maxSize {
		t.Anomalies.Malformed++
		return 0, 0, false
	}
	return e.Address, e.Address + e.Size, true
}

func (t *Tracker) virtualAlloc(e *Event) {
	pid, ok := t.running(e)
	if !ok {
		return
	}
	base, end, ok := t.span(e)
	if !ok || e.Size == 0 || e.Flags&(MemReserve|MemCommit) == 0 { // MEM_RESET and the like change nothing
		return
	}
	p := t.withVirtual(pid)
	p.epoch++
	if e.Flags&MemReserve != 0 {
		if t.decommit(pid, base, end, e.Time, allocations.EndLost, 0) { // what was there has been released unseen
			for _, a := range t.anomalies(pid) {
				a.LostReleases++
			}
		}
		p.reserve(base, end, 0)
	}
	if e.Flags&MemCommit != 0 && t.commit(pid, base, end, e.Time, e) == 0 {
		for _, a := range t.anomalies(pid) {
			a.Recommits++
		}
	}
}

// reserve makes [base, end) one region.
func (p *process) reserve(base, end uint64, value uint32) {
	p.regions.remove(base, end, func(interval, int) {})
	p.regions.insert(interval{base, end, value})
}

func (t *Tracker) virtualFree(e *Event) {
	pid, ok := t.running(e)
	if !ok {
		return
	}
	base, end, ok := t.span(e)
	if !ok || e.Flags&(MemDecommit|MemRelease) == 0 {
		return
	}
	p := t.withVirtual(pid)
	if e.Size == 0 { // as in the call: the whole region that begins here
		if r, ok := p.regions.find(base); ok && r.base == base {
			end = r.end
		} else if c, ok := p.committed.find(base); ok && c.base == base {
			end = c.end
		}
	}
	known := t.decommit(pid, base, end, e.Time, allocations.EndFree, e.Stack)
	switch {
	case e.Flags&MemRelease != 0:
		known = p.regions.remove(base, end, func(interval, int) {}) || known
	case !known:
		_, known = p.regions.find(base) // memory that was reserved may be decommitted
	}
	if !known {
		for _, a := range t.anomalies(pid) {
			a.UnknownVirtualFrees++
		}
	}
}

// rundownStart takes in a region that is older than the trace. Where only a part of it is committed the event does not
// say which: it is taken to be the front, where heaps and most buffers grow from.
func (t *Tracker) rundownStart(e *Event) {
	if pid, base, end, ok := t.rundown(e); ok {
		known := false
		p := t.withVirtual(pid)
		p.committed.overlapping(base, end, func(*interval) { known = true })
		if !known { // else the region is as young as the trace: events of it came before its inventory
			t.adoptRegion(pid, base, end, e)
		}
	}
}

// rundownEnd compares what is known of a region with the closing inventory. A region of which nothing is known has been
// there all the time.
func (t *Tracker) rundownEnd(e *Event) {
	pid, base, end, ok := t.rundown(e)
	if !ok {
		return
	}
	p := t.withVirtual(pid)
	var bytes uint64
	p.committed.overlapping(base, end, func(v *interval) { bytes += min(v.end, end) - max(v.base, base) })
	reserved := false
	p.regions.overlapping(base, end, func(*interval) { reserved = true })
	switch {
	case bytes == 0 && !reserved:
		t.adoptRegion(pid, base, end, e)
	case bytes != min(e.Committed, e.Size):
		for _, a := range t.anomalies(pid) {
			a.RundownMismatches++
		}
	}
}

func (t *Tracker) rundown(e *Event) (pid uint32, base, end uint64, ok bool) {
	pid, ok = t.running(e)
	if ok {
		base, end, ok = t.span(e)
	}
	return pid, base, end, ok && base < end
}

func (t *Tracker) adoptRegion(pid uint32, base, end uint64, e *Event) {
	p := t.withVirtual(pid)
	p.epoch++
	p.reserve(base, end, 0)
	if committed := min(e.Committed, end-base); committed > 0 {
		since := allocations.BeforeTrace
		if p.started {
			since = e.Time
		}
		t.commit(pid, base, base+committed, since, e)
	}
}
