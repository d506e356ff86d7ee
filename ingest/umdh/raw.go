package umdh

import (
	"bytes"
	"math"
	"slices"

	"heapdrift/ingest/capture"
)

// none stands for no trace, site or heap.
const none = math.MaxUint32

// A snapshot gathers the heaps of a raw log.
type snapshot struct {
	c         *capture.Capture
	gathering *stackCollector
	ids       table // BackTrace id → index into traces
	traces    []trace
	places    table // BackTrace id and heap → index into sites
	sites     []site
	heaps     table  // handle → index into c.Heaps
	heap      int32  // that entries belong to now; capture.NoHeap outside
	last      uint32 // site of the last entry, whose stack may follow
	addresses uint64 // all of them or'ed: how wide they are
	bound     int64  // no sum over the log exceeds it
	texts     bool   // some frames came with names
	touched   uint32 // keeps the compiler from leaving look-ups out that come early

	stray      int64 // line of the first entry outside the data of any heap
	conflict   tally // stacks printed again, and differently
	arithmetic tally // entries of the oldest logs whose count and unit do not give the total
}

// A trace is one BackTrace id and its stacks: more than one where it is ambiguous.
type trace struct {
	id    uint64
	line  int64 // of its first entry
	stack capture.StackID
	more  []capture.StackID
}

// A site is what one trace holds in one heap. It has 32 bytes: two to a cache line.
type site struct {
	usage capture.Usage
	trace uint32
	heap  int32
}

func newSnapshot(c *capture.Capture, g *stackCollector) *snapshot {
	return &snapshot{c: c, gathering: g, heap: capture.NoHeap, last: none, ids: newTable(),
		places: newTable(), heaps: newTable()}
}

// begun reports whether anything but a header was there.
func (s *snapshot) begun() bool { return len(s.sites) > 0 || len(s.c.Heaps) > 0 }

// open reports whether the log is inside the data of a heap.
func (s *snapshot) open() bool { return s.heap != capture.NoHeap }

// block adds one block to a site and to the log of blocks.
func (s *snapshot) block(at uint32, requested, overhead, address uint64) {
	site := &s.sites[at]
	site.usage.Count++
	site.usage.Bytes += int64(requested)
	site.usage.Overhead += int64(overhead)
	s.addresses |= address
	s.c.Blocks.Add(capture.Block{Site: at, Address: address, Size: requested})
}

// siteOf finds or makes the site of an id in the current heap.
func (s *snapshot) siteOf(id uint64, line int64) uint32 {
	at, known := s.places.intern(id, uint32(s.heap), uint32(len(s.sites)))
	if known {
		return at
	}
	of, known := s.ids.intern(id, 0, uint32(len(s.traces)))
	if !known {
		s.traces = append(s.traces, trace{id: id, line: line})
	}
	s.sites = append(s.sites, site{trace: of, heap: s.heap})
	if !s.open() && s.stray == 0 {
		s.stray = line
	}
	return at
}

// fits reports whether n more bytes, or blocks, leave every sum inside 63 bits. The bound is coarse, as scan counts
// 4 GiB for each line; near its end it is made exact.
func (s *snapshot) fits(n int64) bool {
	if s.bound > math.MaxInt64-n {
		s.bound = 0
		for i := range s.sites {
			u := s.sites[i].usage
			s.bound += max(u.Bytes, u.Overhead, u.Count) // of many sites at most the sum of three sums that fit
		}
	}
	if s.bound > math.MaxInt64-n {
		return false
	}
	s.bound += n
	return true
}

// entry adds a carefully read entry. It reports false where its numbers cannot be: they would overflow sums.
func (s *snapshot) entry(e entry, line int64) bool {
	if !s.fits(int64(max(e.requested, e.overhead, e.count))) {
		return false
	}
	s.endStack()
	at := s.siteOf(e.trace, line)
	s.last = at
	if e.unit == 0 {
		s.block(at, e.requested, e.overhead, e.address)
		return true
	}
	s.sites[at].usage.Count += int64(e.count)
	s.sites[at].usage.Bytes += int64(e.requested)
	if e.requested/e.unit != e.count || e.requested%e.unit != 0 {
		s.arithmetic.add(line)
	}
	return true
}

// frame adds a return address to the stack of the last entry. It reports false where no entry has a stack there.
func (s *snapshot) frame(address uint64) bool {
	if !s.gathering.pending() && !s.takesFrames() || !s.gathering.room() {
		return false
	}
	s.addresses |= address
	s.gathering.address(address)
	return true
}

func (s *snapshot) takesFrames() bool {
	return s.last != none && s.traces[s.sites[s.last].trace].id != 0 && s.gathering.room()
}

// endStack gives the trace of the last entry the stacks that were listed below it. A later heap may list them
// again: the first stays.
func (s *snapshot) endStack() {
	stacks := s.gathering.take()
	if s.last == none || len(stacks) == 0 {
		return
	}
	t := &s.traces[s.sites[s.last].trace]
	if t.stack == capture.NoStack {
		t.stack, t.more = stacks[0], slices.Clone(stacks[1:])
	} else if t.stack != stacks[0] || !slices.Equal(t.more, stacks[1:]) {
		s.conflict.add(t.line)
	}
}

// marker takes a line that begins or ends the data of a heap, and reports whether it is one.
//
//	*- - - - - - - - - - Start of data for heap @ HEX - - - - - - - - - -
//	*- - - - - - - - - - Heap HEX Hogs - - - - - - - - - -
//	*- - - - - - - - - - End of data for heap @ HEX - - - - - - - - - -
func (s *snapshot) marker(line []byte) bool {
	what, handle := parseMarker(line)
	switch what {
	case markStart:
		s.begin(handle)
	case markHogs: // says nothing new, unless the start is missing
		if !s.open() || s.c.Heaps[s.heap].Handle != handle {
			s.begin(handle)
		}
	case markEnd:
		s.leave()
		if known := len(s.c.Heaps); s.open() && s.c.Heaps[s.heap].Handle == handle {
			s.c.Heaps[s.heap].Partial = false
		} else if at := s.heapAt(handle); int(at) == known {
			s.c.Heaps[at].Partial = true // its beginning is missing
		}
		s.heap = capture.NoHeap
	default:
		return false
	}
	return true
}

func (s *snapshot) begin(handle uint64) {
	s.leave()
	s.heap = s.heapAt(handle)
	s.c.Heaps[s.heap].Partial = true // until its end is seen
}

// leave ends the stack of the last entry; what follows is in another heap.
func (s *snapshot) leave() {
	s.endStack()
	s.last = none
}

func (s *snapshot) heapAt(handle uint64) int32 {
	at, known := s.heaps.intern(handle, 0, uint32(len(s.c.Heaps)))
	if !known {
		s.c.Heaps = append(s.c.Heaps, capture.Heap{Handle: handle})
		s.addresses |= handle
	}
	return int32(at)
}

type mark uint8

const (
	markNone mark = iota
	markStart
	markHogs
	markEnd
)

const markerRuler = "- - - - - - - - - -"

// parseMarker says which marker a line is, and of which heap.
func parseMarker(line []byte) (mark, uint64) {
	line, ok := bytes.CutPrefix(line, []byte("*"+markerRuler+" "))
	if !ok {
		return markNone, 0
	}
	for _, m := range []struct {
		prefix, suffix string
		mark
	}{
		{"Start of data for heap @ ", " " + markerRuler, markStart},
		{"Heap ", " Hogs " + markerRuler, markHogs},
		{"End of data for heap @ ", " " + markerRuler, markEnd},
	} {
		if rest, ok := bytes.CutPrefix(line, []byte(m.prefix)); ok {
			if rest, ok = bytes.CutSuffix(rest, []byte(m.suffix)); ok {
				if handle, ok := hexAll(rest); ok {
					return m.mark, handle
				}
			}
		}
	}
	return markNone, 0
}
