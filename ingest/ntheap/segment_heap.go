package ntheap

import "heapdrift/ingest/capture"

// A segmentHeap is a heap of the kind that UWP apps, Edge and programs that ask for it have from Windows 10 on. It is recognised and
// its own counters are read; the walk says what it did not look into.
type segmentHeap struct{}

func (o *opening) addSegmentHeap(handle uint64) {
	h := &Heap{Handle: handle, Kind: KindSegment, heaps: o.hs, kind: segmentHeap{}}
	h.facts = capture.HeapFacts{Handle: capture.Address(handle), Kind: KindSegment, Bits: uint8(o.p.Bits)}
	for _, l := range o.hs.layouts {
		n := lookup{types: l.types}
		flags, stats := n.at("_SEGMENT_HEAP", "GlobalFlags"), n.at("_SEGMENT_HEAP", "MemStats")
		reserved, committed := n.at("_HEAP_RUNTIME_MEMORY_STATS", "TotalReservedPages"), n.at("_HEAP_RUNTIME_MEMORY_STATS", "TotalCommittedPages")
		free := n.at("_HEAP_RUNTIME_MEMORY_STATS", "FreeCommittedPages")
		if n.missing != "" {
			continue
		}
		r, ok1 := o.w.pointer(handle + stats + reserved)
		c, ok2 := o.w.pointer(handle + stats + committed)
		f, ok3 := o.w.pointer(handle + stats + free)
		if !ok1 || !ok2 || !ok3 || c > r || f > c || r > 1<<35 { // pages of 128 TB
			continue
		}
		h.Layout, h.facts.Layout = l.name, l.name
		h.facts.Flags, _ = o.w.u32(handle + flags)
		h.facts.Reserved, h.facts.Committed, h.facts.Free.Bytes = int64(r*pageSize), int64(c*pageSize), int64(f*pageSize)
		break
	}
	if h.Layout == "" {
		h.facts.Note = "its counters fit no known layout"
	}
	o.hs.List = append(o.hs.List, h)
}

func (segmentHeap) walk(w *walk) error {
	w.gap("heap", w.heap.Handle, uint64(w.heap.facts.Committed), "segment heap: its blocks were not walked")
	return nil
}
