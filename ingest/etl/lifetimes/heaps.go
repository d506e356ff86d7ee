package lifetimes

import (
	"heapdrift/ingest/capture/allocations"

	"slices"
)

// A Heap is one heap of one process, over the whole trace.
type Heap struct {
	Process  uint32 // process instance, as Event.Process
	Handle   uint64
	Usage    allocations.WindowUsage // over the whole trace
	Peak     allocations.Peak        // most bytes held at once
	Timeline []allocations.Point     // bytes held over the whole trace
	// First and Latest are the counters of the heap's first and latest HeapSnapshot. FirstAt and LatestAt are their
	// times in ns since the trace's start, allocations.Never without a snapshot.
	First, Latest     Counters
	FirstAt, LatestAt int64
	// Created says that the heap began inside the trace.
	Created bool
}

// A heap is a Heap as it grows. A handle that is used again is the same heap.
type heap struct {
	account
	handle   uint64
	process  uint32 // number, not instance
	created  bool
	kind     heapKind
	counters *heapCounters // nil while it said nothing
	index    addressIndex
	timeline timeline
}

// heapCounters are the first and the latest counters that the trace records of a heap, and their times.
type heapCounters struct {
	first, latest     Counters
	firstAt, latestAt int64
}

// heapTable numbers heaps by process and handle: open addressing over numbers plus one.
type heapTable struct {
	list[heap]
	index []uint32
	// recent is the heap found last plus one: most events are of few heaps, mostly one.
	recent uint32
}

// of is the number of a heap, which is new if need be; fresh says that it is.
func (t *heapTable) of(process uint32, handle uint64) (id uint32, fresh bool) {
	if t.recent != 0 {
		if h := t.at(t.recent - 1); h.handle == handle && h.process == process {
			return t.recent - 1, false
		}
	}
	if 4*(t.len()+1) > 3*len(t.index) {
		t.grow()
	}
	mask := uint32(len(t.index) - 1)
	i := heapHash(process, handle) & mask
	for t.index[i] != 0 {
		id := t.index[i] - 1
		if h := t.at(id); h.handle == handle && h.process == process {
			t.recent = id + 1
			return id, false
		}
		i = (i + 1) & mask
	}
	t.add(heap{handle: handle, process: process})
	t.index[i] = uint32(t.len())
	t.recent = uint32(t.len())
	return t.recent - 1, true
}

func (t *heapTable) grow() {
	t.index = make([]uint32, max(64, 2*len(t.index)))
	mask := uint32(len(t.index) - 1)
	for id := range uint32(t.len()) {
		h := t.at(id)
		i := heapHash(h.process, h.handle) & mask
		for t.index[i] != 0 {
			i = (i + 1) & mask
		}
		t.index[i] = id + 1
	}
}

// heap is the heap of an event and its process; ok is false where the process has ended.
func (t *Tracker) heap(e *Event) (id uint32, ok bool) {
	p, ok := t.running(e)
	if !ok {
		return 0, false
	}
	id, fresh := t.heaps.of(p, e.Heap)
	if fresh {
		t.processes.at(p).heaps = append(t.processes.at(p).heaps, id)
		t.blockAt(p, e.Heap) // a handle is an address in the heap's first region
	}
	return id, true
}

func (t *Tracker) heapCreate(e *Event) {
	id, ok := t.heap(e)
	if !ok {
		return
	}
	if n := t.heaps.at(id).index.n; n > 0 { // a handle is an address: the heap that was there is gone
		for _, a := range t.anomalies(t.heaps.at(id).process) {
			a.LostFrees += int64(n)
		}
		t.endHeap(id, e.Time, allocations.EndLost)
	}
	h := t.heaps.at(id)
	h.created = true
	switch { // an NT heap reserves whole units of VirtualAlloc, a segment heap as much as its header takes
	case e.Size == 0:
		h.kind = heapUnknown
	case e.Size%reservationUnit == 0:
		h.kind = heapNT
	default:
		h.kind = heapSegment
	}
}

// A heapKind is what a heap is, as the event that creates it tells.
type heapKind uint8

const (
	heapUnknown heapKind = iota
	heapNT
	heapSegment
)

const (
	reservationUnit = 64 << 10 // of VirtualAlloc
	pageBytes       = 4096
)

// mayBeUnlogged reports whether a free of a block that was never allocated is no sign of lost events: segment heaps of
// Windows 10 and 11 log the end of their subsegments, which are whole pages, as a free, and those of 10.0.15063 no
// allocation for a block that moves.
func (h *heap) mayBeUnlogged(address uint64) bool {
	return h.kind == heapSegment || h.kind == heapUnknown && address%pageBytes == 0
}

func (t *Tracker) heapDestroy(e *Event) {
	if id, ok := t.heap(e); ok {
		t.endHeap(id, e.Time, allocations.EndDestroy)
	}
}

func (t *Tracker) heapSnapshot(e *Event) {
	id, ok := t.heap(e)
	if !ok {
		return
	}
	h := t.heaps.at(id)
	if h.counters == nil {
		h.counters = &heapCounters{first: e.Counters, firstAt: e.Time}
	}
	h.counters.latest, h.counters.latestAt = e.Counters, e.Time
}

// endHeap ends every block of a heap, in the order of their numbers: that of the index differs from one run to the
// next. With EndNone they stay in the accounts, and only their rows are written.
func (t *Tracker) endHeap(id uint32, at int64, how allocations.End) {
	h := t.heaps.at(id)
	t.ending = t.ending[:0]
	for _, s := range h.index.slots {
		if s != 0 {
			t.ending = append(t.ending, uint32(s)-1)
		}
	}
	h.index = addressIndex{}
	slices.Sort(t.ending)
	for _, b := range t.ending {
		t.endBlock(h, b, at, how, 0)
	}
}
