package lifetimes

import "heapdrift/ingest/capture/allocations"

// SiteCount is how many sites were met so far.
func (t *Tracker) SiteCount() int { return t.sites.len() }

// Site is one of the sites met so far, by its number: Row.Site.
func (t *Tracker) Site(number int) Site {
	s := t.sites.at(uint32(number))
	site := Site{Stack: s.stack, Kind: s.kind, Usage: s.classes(), Peak: s.peak}
	owner := s.owner
	if s.kind == allocations.KindHeap {
		h := t.heaps.at(owner)
		site.Heap = h.handle
		owner = h.process
	}
	site.Process = t.processes.at(owner).instance
	return site
}

// ForgetSites frees the memory of sites. Call it when only Process is needed from now on.
func (t *Tracker) ForgetSites() { t.sites = siteTable{} }

func (t *Tracker) heapAt(number uint32) Heap {
	h := t.heaps.at(number)
	heap := Heap{
		Process: t.processes.at(h.process).instance, Handle: h.handle, Usage: h.classes(), Peak: h.peak,
		Timeline: h.timeline.finished(), FirstAt: allocations.Never, LatestAt: allocations.Never, Created: h.created,
	}
	if s := h.counters; s != nil {
		heap.First, heap.Latest, heap.FirstAt, heap.LatestAt = s.first, s.latest, s.firstAt, s.latestAt
	}
	return heap
}

// Process is a process instance with its heaps, in the order they were met; ok is false where it had no events of
// memory.
func (t *Tracker) Process(instance uint32) (p Process, heaps []Heap, ok bool) {
	number, ok := t.processes.known(instance)
	if !ok {
		return Process{}, nil, false
	}
	own := t.processes.at(number).heaps
	heaps = make([]Heap, len(own))
	for i, h := range own {
		heaps[i] = t.heapAt(h)
	}
	return t.processAt(number), heaps, true
}

func (t *Tracker) processAt(number uint32) Process {
	p := t.processes.at(number)
	process := Process{
		Instance: p.instance, Started: p.started, Ended: p.ended, EndedAt: p.endedAt,
		Heap: p.heap.classes(), HeapPeak: p.heap.peak, HeapTimeline: p.heapLine.finished(), Anomalies: p.anomalies,
	}
	if v := p.virtualMemory; v != nil {
		process.Virtual, process.VirtualPeak, process.VirtualTimeline = v.virtual.classes(), v.virtual.peak,
			v.virtualLine.finished()
		process.HeapVirtual = v.heapVirtual.classes()
	}
	return process
}
