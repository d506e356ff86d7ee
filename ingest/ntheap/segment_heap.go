package ntheap

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// A segmentHeap is a heap of the kind that UWP apps, Edge and programs that ask for it have from Windows 10 on.
//
//	structure                     source: public kernel and ntdll PDBs of 15063 to 22631; 16299 and 24H2: tools/heaplayouts
//	_SEGMENT_HEAP                 counters, two contexts, the tree of large allocations
//	_HEAP_SEG_CONTEXT             a list of segments: those of 1 MB in units of 4 KB, and those of 16 MB in units of 64 KB
//	_HEAP_PAGE_SEGMENT            256 descriptors of units, and the units
//	_HEAP_PAGE_RANGE_DESCRIPTOR   of a block, of blocks of variable size (VS), or of blocks of one size (LFH)
//
// What the fields mean is known from DbgHelpUtils and published research, and holds for memory that ntdll of 10586 to
// 26100 wrote. 15063 and before have no contexts: one list of segments of 1 MB is in _SEGMENT_HEAP itself.
type segmentHeap struct {
	handle   uint64
	layout   *segmentLayout // nil: the walk does not know the structures
	why      string         // why it does not
	contexts []segmentContext
	keys     *segmentKeys
}

// The builds between which segments and descriptors are as published.
const (
	firstSegmentHeapBuild = 10586
	lastSegmentHeapBuild  = 26100
)

// mostPages bounds a counter of pages: 128 TB.
const mostPages = 1 << 35

func (o *opening) addSegmentHeap(handle uint64) {
	heap := &segmentHeap{handle: handle, keys: o.segmentKeys()}
	h := &Heap{Handle: handle, Kind: KindSegment, heaps: o.hs, kind: heap}
	h.facts = capture.HeapFacts{Handle: capture.Address(handle), Kind: KindSegment, Bits: uint8(o.p.Bits)}
	o.hs.List = append(o.hs.List, h)
	build := heap.keys.build
	heap.why = "its contexts are not where any known layout has them"
	if build != 0 && build < firstSegmentHeapBuild && o.p.Types == nil {
		heap.why = fmt.Sprintf("the structures of build %d are not in the table; ntdll.pdb of that build would help", build)
	}
	clean := h.facts
	for i, l := range o.hs.layouts {
		t, missing := newSegmentLayout(l, o.w.wide)
		facts := clean
		if missing != "" || !heap.readCounts(o.w, t, &facts) {
			continue
		}
		// Of builds before the published ones only their own types are believed; the counters may be where they were later.
		known := build == 0 || build >= firstSegmentHeapBuild || o.p.Types != nil && i == 0
		fits := known && heap.readContexts(o.w, t)
		if fits || h.Layout == "" {
			facts.LayoutSource = l.name
			h.Layout, h.facts = l.name, facts
		}
		if fits {
			heap.layout, heap.why = t, ""
			heap.keys.heaps = append(heap.keys.heaps, heap)
			return
		}
	}
	if h.Layout == "" {
		h.facts.Note = "its counters fit no known layout"
	}
}

// segmentKeys are those of the process: all segment heaps share them.
func (o *opening) segmentKeys() *segmentKeys {
	for _, h := range o.hs.List {
		if s, ok := h.kind.(*segmentHeap); ok {
			return s.keys
		}
	}
	keys := &segmentKeys{build: o.p.Version.Build}
	if at, ok := o.hs.layouts[0].types.Offset("_PEB", "OSBuildNumber"); ok && keys.build == 0 {
		number, _ := o.w.u16(o.p.PEB + at)
		keys.build = uint32(number)
	}
	return keys
}

// readCounts takes the heap's own counters, _HEAP_RUNTIME_MEMORY_STATS, if they can be that.
func (h *segmentHeap) readCounts(w *window, t *segmentLayout, f *capture.HeapFacts) bool {
	at := h.handle + t.stats
	reserved, ok1 := w.pointer(at + t.statReserved)
	committed, ok2 := w.pointer(at + t.statCommitted)
	free, ok3 := w.pointer(at + t.statFree)
	if !ok1 || !ok2 || !ok3 || reserved == 0 || committed > reserved || free > committed || reserved > mostPages {
		return false
	}
	f.Flags, _ = w.u32(h.handle + t.flags)
	f.Reserved, f.Committed, f.Free.Bytes = int64(reserved*pageSize), int64(committed*pageSize), int64(free*pageSize)
	return true
}

// A segmentWalk is the walk of one segmentHeap.
type segmentWalk struct {
	*walk
	*segmentHeap
	descriptors [descriptorCount]unitDescriptor // of the current segment
	page        uint64                          // the first page that was not yet looked at
	walked      uint64                          // readable bytes of the current segment
	odds        tally                           // descriptors that others contradict
	skipped     tally                           // chunks that the heap wants skipped
	free        int64                           // free chunks and free ranges
	room        uint64                          // bytes that the heap has reserved, as it counts
	committed   int64                           // of which these are committed
	records     tally                           // stack records that are claimed and not there
	notes       []string
	padding     padding
}

func (h *segmentHeap) walk(w *walk) error {
	if h.layout == nil {
		w.out.Extents = append(w.out.Extents, Extent{h.handle, pageSize, ExtentFrontEnd})
		w.gap("heap", h.handle, uint64(w.heap.facts.Committed), "segment heap: its blocks were not walked, because %s", h.why)
		return nil
	}
	s := &segmentWalk{walk: w, segmentHeap: h}
	s.readRoom()
	w.out.Extents = append(w.out.Extents, Extent{h.handle, h.layout.size, ExtentFrontEnd})
	if err := h.keys.solve(w); err != nil {
		return err
	}
	if h.keys.strange != "" {
		h.note(w, []string{h.keys.strange})
		w.gap("heap", h.handle, uint64(w.heap.facts.Committed), "segment heap: its blocks were not walked, because %s",
			h.keys.strange)
		return nil
	}
	segments, err := h.segments(w, s.broken)
	if err != nil {
		return err
	}
	s.noteKeys()
	for i := range segments {
		if err := s.segment(&segments[i]); err != nil {
			return err
		}
	}
	large, err := s.large(segments)
	if err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.compare(segments, large)
	return nil
}

// freed counts a free chunk or range. Its bytes are counted by the heap itself, which knows what of a range is
// committed; the largest is one by the pages that are in the evidence, because most of a new segment is one free range
// that has none.
func (s *segmentWalk) freed(at, size uint64) {
	s.free++
	first, last := (at+pageSize-1)&^(pageSize-1), (at+size)&^(pageSize-1)
	if last > first {
		size -= last - first - s.present(first, last-first)
	}
	s.out.Facts.LargestFree = max(s.out.Facts.LargestFree, int64(size))
}

// readRoom takes how much the heap can have. Whether its counters include large allocations, which have some of their
// own, is not published: this is the most.
func (s *segmentWalk) readRoom() {
	reserved, _ := s.near.pointer(s.handle + s.layout.largeReserved)
	committed, _ := s.near.pointer(s.handle + s.layout.largeCommitted)
	s.room = uint64(s.heap.facts.Reserved) + min(reserved, mostPages)*pageSize
	s.committed = s.heap.facts.Committed + int64(min(committed, mostPages)*pageSize)
}

// noteKeys says what is inferred.
func (s *segmentWalk) noteKeys() {
	k := s.keys
	if k.build > lastSegmentHeapBuild {
		s.notes = append(s.notes, fmt.Sprintf("build %d is newer than all known structures; the structures of %s fit",
			k.build, s.layout.name))
	}
	if k.unmasked {
		s.notes = append(s.notes,
			"signatures of segments have no constant in them, as inferred from the chunks that can be read so")
	}
	if lfh := k.lfhKeyOf(s.handle); lfh.known {
		s.notes = append(s.notes,
			fmt.Sprintf("the key of LFH subsegments was inferred from %d of %d of them", lfh.votes, lfh.asked))
	}
}

// compare holds what was walked against what the heap has counted, and completes the figures.
func (s *segmentWalk) compare(segments []pageSegment, large []largeBlock) {
	f := &s.out.Facts
	var reserved int64
	for i := range segments {
		reserved += int64(segments[i].size())
	}
	for i := range s.out.Segments {
		f.Walked += int64(s.out.Segments[i].Walked)
	}
	for _, l := range large {
		reserved += int64(l.size)
		f.Walked += int64(s.present(l.at, l.size))
	}
	f.Segments, f.Free.Count = int64(len(segments)), s.free
	// Which of the heap's own structures its counters include is not published: only a walk that found more than there can
	// be, or much less and tells no gap, contradicts them.
	switch missing := f.Committed - f.Walked; {
	case reserved > int64(s.room) || f.Walked > s.committed:
		s.warn(capture.Inconsistent, 1, s.handle, "heap %#x counts %s bytes, %s of them committed; the walk found %s and %s",
			s.handle, quantity.Count(f.Reserved), quantity.Count(f.Committed), quantity.Count(reserved),
			quantity.Count(f.Walked))
	case missing > max(f.Committed/8, 1<<20) && s.lost == 0:
		s.warn(capture.PartialHeap, missing, s.handle,
			"heap %#x counts %s committed, the walk found %s: parts of it were not found", s.handle,
			quantity.Bytes(f.Committed), quantity.Bytes(f.Walked))
	}
	if s.odds.n > 0 {
		s.warn(capture.Inconsistent, s.odds.n, s.odds.first,
			"%d descriptors or segments of heap %#x contradict others; blocks there may be missing", s.odds.n, s.handle)
	}
	if s.records.n > 0 {
		s.warn(capture.StackMissing, s.records.n, s.records.first,
			"%d blocks of heap %#x should have a stack, and where it was looked for there is none", s.records.n, s.handle)
	}
	if s.skipped.n > 0 {
		s.notes = append(s.notes,
			fmt.Sprintf("%d chunks that the heap marks to be skipped were counted as its own", s.skipped.n))
	}
	s.note(s.walk, s.notes)
}

// note adds sentences to what is said of the heap.
func (h *segmentHeap) note(w *walk, notes []string) {
	if f := &w.out.Facts; len(notes) > 0 {
		f.Note = strings.TrimPrefix(f.Note+"; "+strings.Join(notes, "; "), "; ")
	}
}

// broken says where a list of segments breaks off.
func (s *segmentWalk) broken(b *brokenList) {
	s.gap("heap", b.at, 0, "%s; segments may be missing", b)
	s.warn(capture.PartialHeap, 1, b.at, "segments of heap %#x may be missing: %s", s.handle, b)
}
