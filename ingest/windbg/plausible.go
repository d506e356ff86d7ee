package windbg

import (
	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
)

// The limits on what can be, in bytes.
const (
	// virtualBlock is about the size from which blocks are reservations of their own, 508 KiB in 32-bit processes.
	virtualBlock = 500 << 10
	space32      = 4 << 30
	space64      = 128 << 40
	// slack is how often a sum may exceed what there is room for before it cannot be: tools print at different moments.
	slack = 2
	// vast is more than a heap reserves without committing a good part of it.
	vast = 1 << 40
)

// doubt flags the sizes of an instant that cannot be, beside what its heaps have room for.
func (n *instant) doubt() {
	m, space := n.m, int64(space64)
	if n.c.Process.Bits == 32 {
		space = space32
	}
	var odd tally
	whole, open := n.room()
	for i := range m.Heaps {
		if h := &m.Heaps[i]; isDoubtful(h, space) {
			h.Doubtful = true
			odd.add(1)
		}
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		limit := space
		if at, ok := n.heaps[g.Heap]; ok && m.Heaps[at].Reserved > 0 && !m.Heaps[at].Doubtful {
			limit = roomFor(&m.Heaps[at], g.Size)
		} else if g.Heap == 0 && whole > 0 && !open {
			limit = whole
		}
		if g.Usage.Bytes/slack > limit || g.Usage.Bytes > space {
			g.Doubtful = true
			odd.add(1)
		}
	}
	limit := space
	if whole > 0 && !open {
		limit = whole
	}
	for i := range m.Samples {
		if s := m.Samples[i].Size; s/slack > limit || s > space {
			odd.add(1)
		}
	}
	if m.Reach != nil && (m.Reach.Unreachable.Bytes/slack > limit || m.Reach.Unreachable.Bytes > space) {
		odd.add(1)
	}
	if s := m.Space; s != nil {
		for i := range s.Uses {
			if u := &s.Uses[i]; u.Name == capture.UseHeap && whole > 0 && !open && u.Reserved > vast && u.Reserved/1024 > whole {
				odd.add(1)
			}
		}
	}
	if odd.n > 0 {
		n.c.Warnings = append(n.c.Warnings,
			warning(capture.Implausible, odd.n, 0,
				"%s cannot be: more than the heaps of the log have room for; the debugger read damaged memory or its symbols are of another ntdll, so take these numbers for no measure", figures.Plural(odd.n, "size")))
	}
}

// room is what all heaps have reserved together; open says that they may hold more, in blocks of their own whose size
// is not known.
func (n *instant) room() (whole int64, open bool) {
	for i := range n.m.Heaps {
		h := &n.m.Heaps[i]
		whole = sum(whole, sum(h.Reserved, h.Blocks.Bytes))
		open = open || h.Blocks.Count > 0 && h.Blocks.Bytes == 0 || h.Reserved == 0 || isDoubtful(h, space64)
	}
	return whole, open
}

// roomFor is how many bytes of blocks of a size a heap can hold.
func roomFor(h *capture.HeapFacts, each int64) int64 {
	room := max(h.Reserved, h.Committed)
	if each < virtualBlock || h.Blocks.Count == 0 {
		return room
	}
	if each > 0 && h.Blocks.Count > space64/each {
		return space64
	}
	return sum(room, max(h.Blocks.Bytes, h.Blocks.Count*each))
}

// isDoubtful reports whether a heap has a size that cannot be. Some versions print small negative numbers as very large
// ones.
func isDoubtful(h *capture.HeapFacts, space int64) bool {
	for _, v := range [...]int64{h.Reserved, h.Committed, h.Virtual, h.Free.Bytes, h.Blocks.Bytes} {
		if v > space || v > vast && v/16 > max(h.Committed, 1) && v != h.Committed {
			return true
		}
	}
	return h.Committed > vast && h.Committed/16 > h.Reserved
}
