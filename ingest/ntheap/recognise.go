package ntheap

import (
	"fmt"

	"heapdrift/ingest/capture"
)

// The marks by which a heap is recognised, from public listings of the structures.
const (
	segmentSignature     = 0xFFEEFFEE // _HEAP_SEGMENT.SegmentSignature, which an NT heap of Vista and later begins with
	heapSignature        = 0xEEFFEEFF // _HEAP.Signature
	segmentHeapSignature = 0xDDEEDDEE // _SEGMENT_HEAP.Signature
	pageHeapSignature    = 0xFFEEDDCC // _DPH_HEAP_ROOT.Signature
)

// add recognises the heap at handle and adds it to the list. why says why not; "" if it is there now, or was before.
func (o *opening) add(handle uint64) (why string) {
	if o.seen[handle] {
		return ""
	}
	o.seen[handle] = true
	if o.addPageHeap(handle) {
		return ""
	}
	// _HEAP_ENTRY comes first, so the mark of every kind but one lies behind it.
	mark, ok := o.w.u32(handle + 2*o.w.pointerSize())
	switch {
	case !ok:
		return "its first page cannot be read"
	case mark == segmentSignature || mark == heapSignature:
		return o.addNT(handle, mark == heapSignature)
	case mark == segmentHeapSignature:
		o.addSegmentHeap(handle)
		return ""
	}
	return fmt.Sprintf("not a Windows NT heap: it begins with %#x where a heap has its signature", mark)
}

// addNT tries the layouts until one fits: its own first, then those of neighbouring builds.
func (o *opening) addNT(handle uint64, old bool) (why string) {
	var second *ntHeap
	signed := false
	for _, l := range o.hs.layouts {
		t, missing := newNTLayout(l, o.w.wide)
		if missing != "" || t.old != old {
			continue
		}
		if mark, ok := o.w.u32(handle + t.heapSignature); !ok || mark != heapSignature {
			continue
		}
		signed = true
		heap := &ntHeap{layout: t, handle: handle}
		fits, counts := heap.check(o.w)
		if fits && counts {
			o.addHeap(heap, t.name)
			return ""
		}
		if fits && second == nil {
			second = heap
		}
	}
	switch {
	case second != nil:
		second.uncounted = true
		o.addHeap(second, second.layout.name)
		o.hs.note("the counters of heap %#x fit no known layout; they are not used", handle)
		return ""
	case signed:
		return "its structures fit no known layout: the heap is damaged, or its version of Windows is unknown (ntdll.pdb of that version would help)"
	case o.isSegment(handle):
		return ""
	}
	return "not a Windows NT heap: it has the signature of a segment but not of a heap, like heaps of Wine"
}

// isSegment says whether handle is a segment of another heap, and looks at that heap.
func (o *opening) isSegment(handle uint64) bool {
	for _, l := range o.hs.layouts {
		n := lookup{types: l.types}
		owner := n.at("_HEAP_SEGMENT", "Heap")
		if n.missing != "" {
			continue
		}
		heap, ok := o.w.pointer(handle + owner)
		if !ok || heap == handle || heap == 0 {
			return false
		}
		if mark, ok := o.w.u32(heap + 2*o.w.pointerSize()); ok && (mark == segmentSignature || mark == heapSignature) {
			o.add(heap)
			return true
		}
		return false
	}
	return false
}

// addHeap completes an NT heap from its header.
func (o *opening) addHeap(heap *ntHeap, layout string) {
	h := &Heap{Handle: heap.handle, Kind: KindNT, Layout: layout, heaps: o.hs, kind: heap}
	h.facts = capture.HeapFacts{Handle: capture.Address(heap.handle), Kind: KindNT, Bits: uint8(o.p.Bits),
		LayoutSource: layout}
	heap.readHeader(o.w, &h.facts)
	if h.facts.Flags&heapStackTraces != 0 && !heap.layout.old {
		o.hs.StackTraces = true // this heap does, whatever the PEB says of all
	}
	o.hs.List = append(o.hs.List, h)
}
