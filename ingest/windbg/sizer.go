package windbg

import "heapdrift/ingest/capture"

// A sizer counts the blocks that one output lists, by heap and size.
type sizer struct {
	r       *reader
	in      *instant
	counted map[groupKey]int // places in m.Groups of the groups that are counted here, and in no table of -stat
	last    groupKey         // of the block before, whose group is at
	at      int              // −1 for one that is not counted here
}

func newSizer(r *reader, in *instant) sizer {
	return sizer{r: r, in: in, counted: map[groupKey]int{}, last: groupKey{size: -1}, at: -1}
}

// count adds a block to the group of its size. A group that !heap -stat has is complete there already, and gets an
// example only.
func (s *sizer) count(heap capture.Address, e entry) {
	if key := (groupKey{heap, e.bytes}); key != s.last {
		s.last, s.at = key, s.place(key, e)
	}
	if s.at >= 0 {
		u := &s.in.m.Groups[s.at].Usage
		u.Count++
		u.Bytes = sum(u.Bytes, e.bytes)
	}
}

func (s *sizer) place(key groupKey, e entry) int {
	if at, ok := s.counted[key]; ok {
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
	s.counted[key] = at
	return at
}
