package ntheap

import (
	"cmp"
	"errors"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// A segment is a reservation of a heap, of which first to end hold entries and holes.
type segment struct {
	at, size   uint64
	first, end uint64
	holes      []hole // by address; none overlaps another
}

// A hole is an uncommitted range; its descriptor is the structure that says so.
type hole struct{ address, size, descriptor uint64 }

// oldSegments is how many segments a heap of Windows XP or 2003 can have.
const oldSegments = 64

// segments finds the segments of the heap. What cannot be believed is left out and told.
func (h *ntHeap) segments(w *walk) ([]segment, error) {
	var found []segment
	take := func(at uint64) {
		s, why := h.readSegment(w, at)
		if why == "" && slices.ContainsFunc(found, func(o segment) bool { return s.at < o.at+o.size && o.at < s.at+s.size }) {
			why = "it overlaps another segment of the heap"
		}
		if why != "" {
			w.gap("segment", at, 0, "%s", why)
			w.warn(capture.PartialHeap, 1, at, "a segment of heap %#x was left out: %s", h.handle, why)
			return
		}
		found = append(found, s)
	}
	if h.layout.old {
		for i := range uint64(oldSegments) {
			if at, ok := w.near.pointer(h.handle + h.layout.heapSegments + i*w.near.pointerSize()); ok && at != 0 {
				take(at)
			}
		}
		return found, nil
	}
	err := list(w.near, h.handle+h.layout.heapSegments, w.step, func(link uint64) bool {
		take(link - h.layout.segmentEntry)
		return len(found) < mostSegments
	})
	var broken *brokenList
	if errors.As(err, &broken) {
		w.gap("heap", broken.at, 0, "%s; segments may be missing", broken)
		w.warn(capture.PartialHeap, 1, broken.at, "segments of heap %#x may be missing: %s", h.handle, broken)
		if !slices.ContainsFunc(found, func(s segment) bool { return s.at == h.handle }) {
			take(h.handle) // the first segment needs no list
		}
		err = nil
	}
	return found, err
}

// mostSegments bounds the work of keeping segments apart. A heap has one for each doubling at first, and one for 16 MB
// later.
const mostSegments = 1 << 14

func (h *ntHeap) readSegment(w *walk, at uint64) (s segment, why string) {
	t, near := h.layout, w.near
	mark, ok1 := near.u32(at + 2*near.pointerSize())
	owner, ok2 := near.pointer(at + t.segmentHeap)
	base, ok3 := near.pointer(at + t.segmentBase)
	pages, ok4 := near.u32(at + t.segmentPages)
	first, ok5 := near.pointer(at + t.segmentFirst)
	last, ok6 := near.pointer(at + t.segmentLast)
	size := uint64(pages) * pageSize
	switch {
	case !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6:
		return s, "its header cannot be read"
	case mark != segmentSignature || owner != h.handle:
		return s, "its header belongs to no segment of the heap"
	case base > at || size == 0 || base+size < base || first < at || first > last || last > base+size ||
		first%t.entry.granularity != 0:
		return s, "its header contradicts itself"
	}
	s = segment{at: base, size: size, first: first, end: last}
	if err := h.readHoles(w, at, &s); err != nil {
		return s, err.Error()
	}
	return s, ""
}

// readHoles finds the uncommitted ranges of a segment.
func (h *ntHeap) readHoles(w *walk, at uint64, s *segment) error {
	t, near := h.layout, w.near
	var err error
	var odd tally
	take := func(descriptor uint64) {
		address, ok1 := near.pointer(descriptor + t.rangeAddress)
		size, ok2 := near.pointer(descriptor + t.rangeSize)
		if !ok1 || !ok2 || address < s.first || address > s.end || size > s.end-address ||
			address%pageSize != 0 || size%pageSize != 0 {
			odd.add(descriptor)
			return
		}
		s.holes = append(s.holes, hole{address, size, descriptor})
	}
	if t.old {
		var c cycle
		next, _ := near.pointer(at + t.segmentRanges)
		for next != 0 && !c.met(next) && err == nil {
			take(next)
			next, _ = near.pointer(next + t.rangeNext)
			err = w.step()
		}
	} else {
		err = list(near, at+t.segmentRanges, w.step, func(link uint64) bool {
			take(link - t.rangeEntry)
			return true
		})
	}
	var broken *brokenList
	if errors.As(err, &broken) {
		w.warn(capture.Inconsistent, 1, broken.at, "uncommitted ranges of the segment at %#x may be missing: %s",
			s.at, broken)
		err = nil
	}
	sorting.Unstable(s.holes,
		func(a, b hole) int { return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.size, b.size)) })
	end := uint64(0)
	s.holes = slices.DeleteFunc(s.holes, func(o hole) bool {
		if o.address < end {
			odd.add(o.descriptor)
			return true
		}
		end = o.address + o.size
		return false
	})
	if odd.n > 0 {
		w.warn(capture.Inconsistent, odd.n, odd.first,
			"%d uncommitted ranges of the segment at %#x lie outside it, or in each other; they were ignored", odd.n, s.at)
	}
	return err
}
