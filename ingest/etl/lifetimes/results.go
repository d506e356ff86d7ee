package lifetimes

import "heapdrift/ingest/capture/allocations"

// Sites are the sites met so far; Row.Site is an index into them.
func (t *Tracker) Sites() []Site {
	sites := make([]Site, len(t.sites.sites))
	for i := range sites {
		s := &t.sites.sites[i]
		sites[i] = Site{Stack: s.stack, Kind: s.kind, Classes: s.classes(), Peak: s.peak}
		owner := s.owner
		if s.kind == allocations.KindHeap {
			h := &t.heaps.heaps[owner]
			sites[i].Heap = h.handle
			owner = h.process
		}
		sites[i].Process = t.processes.processes[owner].instance
	}
	return sites
}

// Heaps are the heaps met so far, in the order they were met.
func (t *Tracker) Heaps() []Heap {
	heaps := make([]Heap, len(t.heaps.heaps))
	for i := range heaps {
		h := &t.heaps.heaps[i]
		heaps[i] = Heap{
			Process: t.processes.processes[h.process].instance, Handle: h.handle, Classes: h.classes(), Peak: h.peak,
			Timeline: h.timeline.finished(), FirstAt: allocations.Never, LatestAt: allocations.Never, Created: h.created,
		}
		if s := h.said; s != nil {
			heaps[i].First, heaps[i].Latest, heaps[i].FirstAt, heaps[i].LatestAt = s.first, s.latest, s.firstAt, s.latestAt
		}
	}
	return heaps
}

// Processes are the process instances with events of memory met so far, in the order they were met.
func (t *Tracker) Processes() []Process {
	processes := make([]Process, len(t.processes.processes))
	for i := range processes {
		p := &t.processes.processes[i]
		processes[i] = Process{
			Instance: p.instance, Started: p.started, Ended: p.ended, EndedAt: p.endedAt,
			Heap: p.heap.classes(), HeapPeak: p.heap.peak, HeapTimeline: p.heapLine.finished(), Anomalies: p.anomalies,
		}
		if v := p.virtualMemory; v != nil {
			processes[i].Virtual, processes[i].VirtualPeak, processes[i].VirtualTimeline = v.virtual.classes(), v.virtual.peak, v.virtualLine.finished()
			processes[i].HeapVirtual = v.heapVirtual.classes()
		}
	}
	return processes
}
