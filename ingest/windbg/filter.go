package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
)

// filter reads !heap -flt s N and -flt r A B: for each heap the blocks whose size passes.
//
//	_HEAP @ 510000
//	HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
//	  0ac49018 2ae00 0000  [00]   0ac49030    156600 - (busy VirtualAlloc)
//	    unknown!printable
type filter struct {
	r    *reader
	in   *instant
	heap capture.Address
	seen map[capture.Address]bool // heaps of this output
	own  map[groupKey]int         // places in m.Groups of the groups that are counted here, and in no table of -stat
	last groupKey                 // of the row before, whose group is at
	at   int                      // −1 for one that is not counted here
}

func openFilter(r *reader, text []byte) section {
	heap, ok := cutHeap(text)
	if !ok {
		return nil
	}
	key := "!heap -flt"
	if argument := argumentOf(r.command, "-flt"); argument != nil {
		key = fmt.Sprintf("!heap -flt %s", argument)
	}
	s := &filter{r: r, in: r.begin(key, "!heap -flt"), own: map[groupKey]int{}, seen: map[capture.Address]bool{}, at: -1}
	s.enter(heap)
	return s
}

func (s *filter) enter(heap uint64) {
	s.heap = capture.Address(heap)
	s.seen[s.heap] = true
	s.last, s.at = groupKey{size: -1}, -1
}

func (s *filter) line(text []byte) bool {
	if heap, ok := cutHeap(text); ok {
		if s.seen[capture.Address(heap)] || len(s.seen) == maxHeaps {
			return false // the command ran again
		}
		s.enter(heap)
		return true
	}
	if isEntryHeader(text) {
		return true
	}
	e, like, ok := parseEntry(text)
	switch {
	case !like:
		return bytes.IndexByte(text, '!') > 0 && bytes.IndexByte(text, ' ') < 0 // what the block looks like
	case !ok:
		s.in.malformed.add(s.r.in.number)
	case e.busy:
		s.count(e)
	}
	return true
}

// count adds a block to the group of its size. A group that !heap -stat has is complete there already, and gets an example only.
func (s *filter) count(e entry) {
	if key := (groupKey{s.heap, e.bytes}); key != s.last {
		s.last, s.at = key, s.place(key, e)
	}
	if s.at >= 0 {
		u := &s.in.m.Groups[s.at].Usage
		u.Count++
		u.Bytes = sum(u.Bytes, e.bytes)
	}
}

func (s *filter) place(key groupKey, e entry) int {
	if at, ok := s.own[key]; ok {
		return at
	}
	_, known := s.in.groups[key]
	g := s.in.group(s.r, key.heap, key.size)
	if g == nil {
		return -1
	}
	if g.Example == 0 {
		g.Example = capture.Address(e.user)
	}
	if known && g.Key != ofLeaks {
		return -1
	}
	g.Usage, g.Key = capture.Usage{}, ""
	at := s.in.groups[key]
	s.own[key] = at
	return at
}

func (s *filter) close() {}
