package ntheap

import (
	"cmp"
	"errors"
	"slices"

	"heapdrift/ingest/sorting"
)

// A segmentContext is one of the two kinds of segments that a heap has.
type segmentContext struct {
	at        uint64
	unitShift uint8
	first     int // descriptor; those before have the header of the segment
}

// descriptorCount is how many units a segment has, _HEAP_PAGE_SEGMENT.DescArray.
const descriptorCount = 256

// mostUnitShift bounds the size of a unit. Known ones are 12 and 16.
const mostUnitShift = 20

// readContexts takes the two contexts if they look like contexts: what they say of segments and units must be the same
// said twice.
func (h *segmentHeap) readContexts(w *window, t *segmentLayout) bool {
	h.contexts = nil
	if t.old {
		return h.readOnlyContext(w, t)
	}
	for i := range uint64(2) {
		at := h.handle + t.contexts + i*t.contextSize
		mask, ok1 := w.pointer(at + t.mask)
		unit, ok2 := w.u8(at + t.unitShift)
		pages, ok3 := w.u8(at + t.pagesShift)
		first, ok4 := w.u8(at + t.firstIndex)
		next, ok5 := w.pointer(at + t.list)
		if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || next == 0 || unit < 12 || unit > mostUnitShift ||
			pages != unit-12 || first == 0 {
			return false
		}
		size := uint64(descriptorCount) << unit
		all := ^uint64(0)
		if !t.wide {
			all = 1<<32 - 1
		}
		if mask != all&^(size-1) || uint64(first)<<unit < t.header {
			return false
		}
		h.contexts = append(h.contexts, segmentContext{at, unit, int(first)})
	}
	return true
}

// readOnlyContext takes the heap itself for its context, as it is in the oldest versions.
func (h *segmentHeap) readOnlyContext(w *window, t *segmentLayout) bool {
	next, ok1 := w.pointer(h.handle + t.list)
	back, ok2 := w.pointer(next + w.pointerSize())
	if !ok1 || !ok2 || back != h.handle+t.list && next != h.handle+t.list || t.header%pageSize != 0 {
		return false
	}
	h.contexts = []segmentContext{{h.handle, 12, int(t.header / pageSize)}}
	return true
}

// A pageSegment is a segment of a context.
type pageSegment struct {
	at      uint64
	context *segmentContext
}

func (s *pageSegment) size() uint64 { return descriptorCount << s.context.unitShift }

// segments finds the segments of both contexts, by address; none overlaps another. broken is told of lists that break.
func (h *segmentHeap) segments(w *walk, broken func(*brokenList)) ([]pageSegment, error) {
	var all []pageSegment
	var odd tally
	for i := range h.contexts {
		c := &h.contexts[i]
		size := uint64(descriptorCount) << c.unitShift
		err := list(w.near, c.at+h.layout.list, w.step, func(link uint64) bool {
			if at := link - h.layout.link; at%size == 0 && at != 0 && at+size > at && (w.near.wide || at+size <= 1<<32) {
				all = append(all, pageSegment{at, c})
			} else {
				odd.add(at)
			}
			return len(all) < mostSegments
		})
		var b *brokenList
		if errors.As(err, &b) {
			if broken != nil {
				broken(b)
			}
		} else if err != nil {
			return nil, err
		}
	}
	sorting.Stable(all, func(a, b pageSegment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.context.unitShift, b.context.unitShift))
	})
	end := uint64(0)
	all = slices.DeleteFunc(all, func(s pageSegment) bool {
		if s.at < end {
			odd.add(s.at)
			return true
		}
		end = s.at + s.size()
		return false
	})
	if odd.n > 0 && broken != nil {
		w.gap("segment", odd.first, 0, "%d segments lie where none can, or in others; they were left out", odd.n)
	}
	return all, nil
}
