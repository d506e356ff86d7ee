package ntheap

import (
	"errors"

	"heapdrift/ingest/capture"
)

// An ntWalk is the walk of one ntHeap.
type ntWalk struct {
	*walk
	*ntHeap
	lfh    *lfhWalk
	unused map[uint64]bool // blocks in lookaside lists: free, though their entries say busy
}

func (h *ntHeap) walk(w *walk) error {
	n := &ntWalk{walk: w, ntHeap: h}
	segments, err := h.segments(w)
	if err != nil {
		return err
	}
	if n.lfh, err = n.openLFH(segments); err != nil {
		return err
	}
	if err := n.readLookaside(); err != nil {
		return err
	}
	for i := range segments {
		if err := n.segment(&segments[i]); err != nil {
			return err
		}
	}
	if err := n.lfh.rest(); err != nil {
		return err
	}
	if err := n.virtualBlocks(); err != nil {
		return err
	}
	n.lfh.extent()
	n.compare(segments)
	return nil
}

// segment walks the entries of one segment.
func (n *ntWalk) segment(s *segment) error {
	out := Segment{Address: s.at, Size: s.size, Walked: s.first - s.at}
	for _, o := range s.holes {
		out.Holes = append(out.Holes, UncommittedRange{o.address, o.size})
	}
	n.out.Extents = append(n.out.Extents, Extent{s.at, s.size, ExtentSegment})
	n.lfh.seek(s.first)
	var err error
	at := s.first
	for i := 0; i <= len(s.holes) && err == nil; i++ {
		run := run{from: at, to: s.end}
		if i < len(s.holes) {
			run.to = s.holes[i].address
			at = s.holes[i].address + s.holes[i].size
		}
		err = n.run(&run)
		out.Walked += run.walked
	}
	n.out.Segments = append(n.out.Segments, out)
	return err
}

// A run is committed entries, between two holes or between a hole and an end.
type run struct {
	from, to uint64
	walked   uint64 // bytes
}

// run walks entries one behind the other. Each says how long it is and how long the one before is; where that fails, or
// the check over its bytes, what lies up to the next entry that can be believed is a gap.
func (n *ntWalk) run(r *run) error {
	t := n.layout
	granularity, compact := t.entry.granularity, t.entry.compact
	var previous uint16 // 0: nothing is known of the entry before
	for at := r.from; at < r.to; {
		if err := n.step(); err != nil {
			return err
		}
		b := n.seq.bytes(at+compact, 8)
		var e entry
		ok := false
		if b != nil {
			e, ok = t.read(b, n.enc, previous)
		}
		size := uint64(e.size) * granularity
		if !ok || previous != 0 && e.previous != previous || size > r.to-at {
			next, err := n.resynchronise(at, r.to, b == nil)
			if err != nil {
				return err
			}
			if next != at {
				at, previous = next, 0
				continue
			}
			if e, ok = t.read(n.seq.bytes(at+compact, 8), n.enc, 0); !ok { // it was read a moment ago
				return nil
			}
			size = uint64(e.size) * granularity
		}
		if err := n.entry(at, size, e); err != nil {
			return err
		}
		r.walked += size
		at, previous = at+size, e.size
	}
	return nil
}

// entry takes one entry of a segment.
func (n *ntWalk) entry(at, size uint64, e entry) error {
	user := at + n.layout.entry.granularity
	switch {
	case e.flags&entryBusy == 0:
		n.free(size)
		return nil
	case n.lfh.container(user, at+size, e.flags&entryInternal != 0):
		add(&n.out.Internal, size-min(size, uint64(e.unused)), 0)
		return n.lfh.walk(user, at+size)
	case e.flags&entryInternal != 0 && !n.layout.old:
		add(&n.out.Internal, size-min(size, uint64(e.unused)), 0)
		return nil
	case n.unused[user]:
		n.free(size)
		return nil
	case e.unused < leastUnused && !n.layout.old:
		add(&n.out.Areas[Bookkeeping], size-uint64(e.unused), uint64(e.unused))
		return nil
	}
	return n.block(at, size, e, Backend)
}

// compare holds what was walked against what the heap has counted.
func (n *ntWalk) compare(segments []segment) {
	f := &n.out.Facts
	var reserved, committed, virtual, holes, largest int64
	for i := range segments {
		s := &segments[i]
		end := s.at + s.size
		reserved += int64(s.size)
		committed += int64(s.size)
		for _, o := range s.holes {
			committed -= int64(o.size)
			largest = max(largest, int64(o.size))
			if o.size > 0 {
				holes++
			}
			if o.size > 0 && o.address+o.size == end {
				end = o.address
			}
		}
		virtual += int64(end - s.at)
		f.Walked += int64(n.out.Segments[i].Walked)
	}
	f.LargestUncommitted = largest
	for _, x := range n.out.Extents {
		if x.Kind == ExtentVirtual {
			virtual += int64(x.Size)
		}
	}
	f.Virtual = virtual
	if n.layout.old || n.uncounted {
		f.Reserved, f.Committed, f.Segments, f.UncommittedRanges = reserved, committed, int64(len(segments)), holes
		return
	}
	// The heap does not subtract pages that are decommitted inside of free blocks, and the walk does not either.
	counted := n.counts.committed - n.counts.front
	if counted != uint64(f.Walked) && n.lost == 0 {
		n.warn(capture.Inconsistent, 1, n.handle, "heap %#x counts %d committed bytes, the walk found %d",
			n.handle, counted, f.Walked)
	}
	if int(n.counts.segments) != len(segments) {
		n.warn(capture.Inconsistent, 1, n.handle, "heap %#x counts %d segments, the walk found %d", n.handle,
			n.counts.segments, len(segments))
	}
}

// virtualBlocks walks the blocks that are reservations of their own: too large for a segment.
func (n *ntWalk) virtualBlocks() error {
	t := n.layout
	var failed error
	err := list(n.near, n.handle+t.heapVirtualBlocks, n.step, func(link uint64) bool {
		failed = n.virtualBlock(link)
		return failed == nil
	})
	var broken *brokenList
	if errors.As(err, &broken) {
		n.gap("heap", broken.at, 0, "%s; virtual blocks may be missing", broken)
		n.warn(capture.PartialHeap, 1, broken.at, "virtual blocks of heap %#x may be missing: %s", n.handle, broken)
		err = nil
	}
	if failed != nil {
		return failed
	}
	return err
}

// virtualBlock takes one: its entry's Size is the number of bytes that are committed and were not asked for.
func (n *ntWalk) virtualBlock(at uint64) error {
	t := n.layout
	commit, ok1 := n.near.pointer(at + t.virtualCommit)
	reserve, ok2 := n.near.pointer(at + t.virtualReserve)
	b := n.near.bytes(at+t.virtualBusy+t.entry.compact, 8)
	if !ok1 || !ok2 || b == nil {
		n.gap("virtual block", at, 0, "its header cannot be read")
		return nil
	}
	e, ok := t.read(b, n.enc, 0)
	if !ok && n.enc.mask != 0 && e.size > 0 || e.flags&entryBusy == 0 || commit == 0 ||
		commit > reserve || reserve > mostBytes {
		n.bad.add(at)
		n.gap("virtual block", at, min(commit, reserve, mostBytes), "its entry fails its checks")
		return nil
	}
	n.out.Extents = append(n.out.Extents, Extent{at, reserve, ExtentVirtual})
	if at+t.virtualBusy+t.entry.granularity == n.frontEnd { // seen in Windows 7: the heap has asked itself for it
		unused := min(commit, uint64(e.size))
		add(&n.out.Areas[Bookkeeping], commit-unused, unused)
		add(&n.out.Facts.Blocks, commit-unused, unused)
		return nil
	}
	if t.old {
		return n.oldVirtual(at, commit, e)
	}
	// Of its entry only Size counts. The prefix says as much, and itself.
	_, length, kept := n.prefix(n.near, at+t.virtualBusy, commit)
	extended := kept == prefixThere && length == (uint64(e.size)+2*t.entry.granularity)&0xFFFF
	return n.sized(at+t.virtualBusy, commit, shape{uint64(e.size), extended, e.flags&entryExtra != 0}, Virtual)
}
