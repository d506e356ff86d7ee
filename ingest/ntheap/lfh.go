package ntheap

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// containerSignature is _HEAP_USERDATA_HEADER.Signature.
const containerSignature = 0xF0E0D0C0

// lfhBusy is the bit of UnusedBytes that marks blocks of the low-fragmentation heap; alone it marks a free one.
const lfhBusy = 0x80

const (
	// mostSubsegments bounds the subsegments of one zone, which is at most a few pages.
	mostSubsegments = 1 << 12
	// largestContainer is more than ntdll makes, for containers whose own block could not be found.
	largestContainer = 1 << 24
)

// A subsegment is a _HEAP_SUBSEGMENT with blocks of one size in a container.
type subsegment struct {
	container, at    uint64
	blockSize, count uint16 // granules, blocks
	walked           bool
}

// subsegments collects those that are in use, by the zones in which ntdll keeps them, at most limit of them.
func (h *ntHeap) subsegments(w *window, step func() error, limit int) ([]subsegment, error) {
	t := h.layout.lfh
	if t == nil || h.frontEndType != frontEndLFH || h.frontEnd == 0 {
		return nil, nil
	}
	var found []subsegment
	var failed error
	looks := 4*limit + mostSubsegments // zones that lie in each other would be looked through again and again
	err := list(w, h.frontEnd+t.zones, step, func(zone uint64) bool {
		for at := range h.zone(w, zone) {
			if failed = step(); failed != nil || looks == 0 {
				return false
			}
			looks--
			if s, ok := h.subsegment(w, at); ok {
				found = append(found, s)
			}
		}
		return len(found) < limit
	})
	if failed != nil {
		err = failed
	}
	return found, err
}

// zone yields the addresses of subsegments in a zone. Sources disagree whether NextIndex counts the last, so it is one
// more than it says: what is no subsegment is found out by the signature of its container.
func (h *ntHeap) zone(w *window, zone uint64) func(yield func(uint64) bool) {
	t := h.layout.lfh
	from, n := zone+t.zoneSubsegment, uint64(0)
	if t.indexed {
		next, _ := w.u32(zone + t.zoneNextIndex)
		n = uint64(next) + 1
	} else if end, ok := w.pointer(zone + t.zoneFree); ok && end > from {
		n = (end - from) / t.subsegmentSize
	}
	return func(yield func(uint64) bool) {
		for i := range min(n, mostSubsegments) {
			if at := from + i*t.subsegmentSize; !w.readable(at) || !yield(at) {
				return
			}
		}
	}
}

// subsegment reads one, and reports whether it is in use: its container must lead back to it.
func (h *ntHeap) subsegment(w *window, at uint64) (s subsegment, ok bool) {
	t := h.layout.lfh
	container, ok1 := w.pointer(at + t.userBlocks)
	size, ok2 := w.u16(at + t.blockSize)
	count, ok3 := w.u16(at + t.blockCount)
	if !ok1 || !ok2 || !ok3 || container == 0 || size == 0 || count == 0 {
		return s, false
	}
	mark, ok4 := w.u32(container + t.headerSignature)
	back, ok5 := w.pointer(container + t.headerSubsegment)
	return subsegment{container: container, at: at, blockSize: size, count: count}, ok4 && ok5 &&
		mark == containerSignature && back == at
}

// An lfhWalk walks the containers of a heap as its segments are walked, and those that were not met in a segment at the
// end.
type lfhWalk struct {
	*ntWalk
	known   []subsegment // by container
	next    int
	current *subsegment
	bits    []byte // of the container that is being walked
}

func (n *ntWalk) openLFH(segments []segment) (*lfhWalk, error) {
	l := &lfhWalk{ntWalk: n}
	known, err := n.subsegments(n.near, n.step, mostContainers(segments))
	var broken *brokenList
	if errors.As(err, &broken) {
		n.warn(capture.Inconsistent, 1, broken.at,
			"the low-fragmentation heap of heap %#x is known in part: %s; the rest is found by what it looks like",
			n.handle, broken)
		err = nil
	}
	if err != nil {
		return l, err
	}
	sorting.Unstable(known, func(a, b subsegment) int { return cmp.Compare(a.container, b.container) })
	l.known = slices.CompactFunc(known, func(a, b subsegment) bool { return a.container == b.container })
	return l, nil
}

// extent adds the front end to the extents, unless it lies in one: in a segment, or as a virtual block of its own.
func (l *lfhWalk) extent() {
	t := l.layout.lfh
	if t == nil || l.frontEndType != frontEndLFH || l.frontEnd == 0 {
		return
	}
	for _, x := range l.out.Extents {
		if l.frontEnd-x.Address < x.Size {
			return
		}
	}
	l.out.Extents = append(l.out.Extents, Extent{l.frontEnd, max(t.heapSize, 1), ExtentFrontEnd})
}

// mostContainers is how many containers the segments have room for: each is at least 256 bytes.
func mostContainers(segments []segment) int {
	var room uint64
	for i := range segments {
		room += segments[i].size
	}
	return int(min(room/256+1, 1<<24))
}

// seek begins a segment: containers before at are not in it.
func (l *lfhWalk) seek(at uint64) {
	l.next, _ = slices.BinarySearchFunc(l.known, at,
		func(s subsegment, at uint64) int { return cmp.Compare(s.container, at) })
}

// container says whether the block from user to end is a container. One that no zone leads to is recognised by its
// header if the heap made it for itself.
func (l *lfhWalk) container(user, end uint64, internal bool) bool {
	for l.next < len(l.known) && l.known[l.next].container < user {
		l.next++
	}
	if l.next < len(l.known) && l.known[l.next].container == user {
		l.current = &l.known[l.next]
		return true
	}
	t := l.layout.lfh
	if l.layout.old {
		return l.frontEndType == frontEndLFH && l.oldContainer(user)
	}
	if !internal || t == nil || end-user < 4*l.layout.entry.granularity {
		return false
	}
	mark, ok := l.seq.u32(user + t.headerSignature)
	if !ok || mark != containerSignature {
		return false
	}
	at, ok := l.seq.pointer(user + t.headerSubsegment)
	if !ok {
		return false
	}
	s, ok := l.subsegment(l.near, at)
	if !ok || s.container != user {
		return false
	}
	l.current = &s
	return true
}

// walk hands out the blocks of the container that was found last, which ends at end.
func (l *lfhWalk) walk(user, end uint64) error {
	if l.layout.old {
		return l.oldBlocks(user, end)
	}
	return l.blocks(l.current, end)
}

// rest walks the containers that were not met: their segments are damaged, or they are in virtual blocks.
func (l *lfhWalk) rest() error {
	var end uint64 // of the container before
	for i := range l.known {
		s := &l.known[i]
		stop := s.container + largestContainer
		if i+1 < len(l.known) {
			stop = min(stop, l.known[i+1].container)
		}
		if s.walked {
			continue
		}
		if s.container < end {
			l.odd.add(s.container)
			continue
		}
		end = stop
		if err := l.blocks(s, stop); err != nil {
			return err
		}
	}
	return nil
}

// readBits reads the bitmap of a container: a bit for each block, set if it is busy. It is nil where there is none.
func (l *lfhWalk) readBits(s *subsegment) []byte {
	t := l.layout.lfh
	if !t.encoded {
		return nil
	}
	n := (int(s.count) + 7) / 8
	l.bits = l.bits[:0]
	for at := s.container + t.headerBits; n > 0; {
		b := l.near.bytes(at, min(n, pageSize))
		if b == nil {
			return nil
		}
		l.bits = append(l.bits, b...)
		at, n = at+uint64(len(b)), n-len(b)
	}
	return l.bits
}

// firstBlock is where blocks begin in a container, from its beginning.
func (l *lfhWalk) firstBlock(s *subsegment) uint64 {
	t, stride := l.layout.lfh, uint64(s.blockSize)*l.layout.entry.granularity
	assumed := l.layout.assumedFirst(s, l.near.pointerSize())
	switch {
	case t.encoded && l.heaps.keyed:
		field, _ := l.near.u32(s.container + t.headerOffsets)
		v := field ^ uint32(s.container) ^ uint32(l.frontEnd) ^ l.heaps.lfhKey
		if first := uint64(v & 0xFFFF); uint64(v>>16) == stride&0xFFFF && t.plausible(first) {
			return first
		}
		l.odd.add(s.container)
	case t.plain:
		if first, ok := l.near.u16(s.container + t.headerFirst); ok && t.plausible(uint64(first)) {
			return uint64(first)
		}
		l.odd.add(s.container)
	}
	return assumed
}

// plausible says whether blocks may begin there.
func (t *lfhLayout) plausible(first uint64) bool {
	return first%8 == 0 && first > max(t.headerOffsets, t.headerFirst) && first <= pageSize
}

// assumedFirst is where blocks begin if nothing but header and bitmap lies before them.
func (n *ntLayout) assumedFirst(s *subsegment, pointer uint64) uint64 {
	t, mask := n.lfh, n.entry.granularity-1
	bits := (uint64(s.count) + 31) / 32 * 4
	switch {
	case t.encoded:
		return (t.headerBits + bits + mask) &^ mask
	case t.plain: // two u16, a bitmap of size and pointer, its bits
		return (t.headerFirst + 4 + 2*pointer + bits + mask) &^ mask
	}
	return t.headerEnd
}

// header is the last 8 bytes of the entry of a block, nil where they cannot be read.
func (l *lfhWalk) header(at uint64) []byte { return l.seq.bytes(at+l.layout.entry.compact, 8) }

func lfhState(b []byte, f *entryFormat) uint8 {
	return uint8(binary.LittleEndian.Uint64(b) >> f.unused)
}
