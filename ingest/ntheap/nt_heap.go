package ntheap

import "heapdrift/ingest/capture"

// frontEndLFH and frontEndLookaside are values of _HEAP.FrontEndHeapType.
const (
	frontEndLookaside = 1
	frontEndLFH       = 2
)

// encodeEntries is the bit of _HEAP.EncodeFlagMask that says that entries are encoded.
const encodeEntries = 0x100000

// An ntHeap is a heap of Windows XP to 11 that is no segment heap.
type ntHeap struct {
	layout       *ntLayout
	handle       uint64
	enc          encoding
	frontEnd     uint64
	frontEndType uint8
	counts       counts
	uncounted    bool // the counters are not where the layout says
	stamped      bool // page heap marks the blocks
}

// counts are the heap's own counters, _HEAP_COUNTERS.
type counts struct {
	reserved, committed, virtual uint64 // bytes
	decommitted                  uint64 // of those committed, given back inside free blocks
	front                        uint64 // of those committed, the front end's, in a reservation of its own
	segments, ranges, contention uint32
}

// check says whether the structures at the heap look as the layout says: fits, if what the walk needs does; full, if
// lists and counters do as well, which tells neighbouring builds apart.
func (h *ntHeap) check(w *window) (fits, full bool) {
	t := h.layout
	first, ok1 := w.pointer(h.ownSegment(w) + t.segmentFirst)
	last, ok2 := w.pointer(h.ownSegment(w) + t.segmentLast)
	owner, ok3 := w.pointer(h.ownSegment(w) + t.segmentHeap)
	front, ok4 := w.u8(h.handle + t.heapFrontEndType)
	if !ok1 || !ok2 || !ok3 || !ok4 || owner != h.handle || first <= h.handle || first > last || front > frontEndLFH {
		return false, false
	}
	if !t.old && !h.checkLists(w) {
		return true, false
	}
	c, ok := h.readCounts(w)
	return true, ok && (t.old || c.segments > 0 && c.reserved > 0 && c.reserved%pageSize == 0 &&
		c.committed%pageSize == 0 && c.committed <= c.reserved && c.reserved <= mostBytes)
}

// ownSegment is the first segment: the heap itself begins with it, but in Windows XP and 2003 an array points to it.
func (h *ntHeap) ownSegment(w *window) uint64 {
	if !h.layout.old {
		return h.handle
	}
	first, _ := w.pointer(h.handle + h.layout.heapSegments)
	return first
}

// checkLists looks at the first links of the lists of the heap.
func (h *ntHeap) checkLists(w *window) bool {
	for _, head := range [2]uint64{h.handle + h.layout.heapSegments, h.handle + h.layout.heapVirtualBlocks} {
		next, ok := w.pointer(head)
		if !ok || next == 0 {
			return false
		}
		if back, ok := w.pointer(next + w.pointerSize()); ok && back != head {
			return false
		}
	}
	return true
}

func (h *ntHeap) readCounts(w *window) (c counts, ok bool) {
	t := h.layout
	if t.old {
		return counts{}, true
	}
	at := h.handle + t.heapCounters
	var good [6]bool
	c.reserved, good[0] = w.pointer(at + t.countReserved)
	c.committed, good[1] = w.pointer(at + t.countCommitted)
	c.virtual, good[2] = w.pointer(at + t.countVirtual)
	c.segments, good[3] = w.u32(at + t.countSegments)
	c.ranges, good[4] = w.u32(at + t.countRanges)
	c.contention, good[5] = w.u32(at + t.countContention)
	if t.countDecommitted != 0 {
		c.decommitted, _ = w.pointer(at + t.countDecommitted)
	}
	return c, good == [6]bool{true, true, true, true, true, true}
}

// readHeader takes what the header of the heap says.
func (h *ntHeap) readHeader(w *window, f *capture.HeapFacts) {
	t := h.layout
	f.Flags, _ = w.u32(h.handle + t.heapFlags)
	h.frontEnd, _ = w.pointer(h.handle + t.heapFrontEnd)
	h.frontEndType, _ = w.u8(h.handle + t.heapFrontEndType)
	switch {
	case h.frontEnd == 0:
	case h.frontEndType == frontEndLFH:
		f.FrontEnd = "LFH"
	case h.frontEndType == frontEndLookaside:
		f.FrontEnd = "lookaside"
	}
	if t.old {
		return
	}
	if mask, _ := w.u32(h.handle + t.heapEncodeMask); mask&encodeEntries != 0 {
		key, _ := w.u64(h.handle + t.heapEncoding + t.entry.compact)
		h.enc = encoding{key, encodeEntries}
	}
	if c, ok := h.readCounts(w); ok && !h.uncounted {
		if h.frontEndType == frontEndLFH && t.lfh != nil && t.lfh.uncommitted != 0 {
			if end, ok := w.pointer(h.frontEnd + t.lfh.uncommitted); ok && end > h.frontEnd && end-h.frontEnd <= c.committed {
				c.front = end - h.frontEnd
			}
		}
		c.decommitted = min(c.decommitted, c.committed)
		h.counts = c
		f.Reserved, f.Committed, f.Contention = int64(c.reserved), int64(c.committed-c.decommitted), int64(c.contention)
		f.Segments, f.UncommittedRanges = int64(c.segments), int64(c.ranges)
	}
}
