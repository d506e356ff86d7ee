package windbg

import (
	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
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
	l := limits{space: space64}
	if n.c.Process.Bits == 32 {
		l.space = space32
	}
	if l.heaps, l.known = n.room(); !l.known {
		l.heaps = l.space
	}
	odd := n.doubtHeaps(l) + n.doubtGroups(l) + n.doubtBlocks(l) + n.doubtUses(l)
	if odd > 0 {
		n.c.Warnings = append(n.c.Warnings,
			warning(capture.Implausible, odd, 0,
				"%s cannot be right: the heaps of the log are smaller. The debugger read damaged memory, or had symbols of another ntdll. Ignore these numbers.", quantity.Plural(odd, "size")))
	}
}

// limits are what sizes must not exceed, in bytes.
type limits struct {
	space int64 // of the process
	heaps int64 // what all heaps have room for; the space where that is not known
	known bool
}

// exceeded reports whether blocks of so many bytes have no place in a room.
func (l limits) exceeded(size, room int64) bool { return size/slack > room || size > l.space }

func (n *instant) doubtHeaps(l limits) (odd int64) {
	for i := range n.m.Heaps {
		if h := &n.m.Heaps[i]; isDoubtful(h, l.space) {
			h.Doubtful = true
			odd++
		}
	}
	return odd
}

func (n *instant) doubtGroups(l limits) (odd int64) {
	for i := range n.m.Groups {
		g := &n.m.Groups[i]
		room := l.space
		if at, ok := n.heaps[g.Heap]; ok && n.m.Heaps[at].Reserved > 0 && !n.m.Heaps[at].Doubtful {
			room = roomFor(&n.m.Heaps[at], g.Size)
		} else if g.Heap == 0 {
			room = l.heaps
		}
		if l.exceeded(g.Usage.Bytes, room) {
			g.Doubtful = true
			odd++
		}
	}
	return odd
}

// doubtBlocks counts what cannot be of single blocks, and of those that nothing points to.
func (n *instant) doubtBlocks(l limits) (odd int64) {
	for i := range n.m.Samples {
		if l.exceeded(n.m.Samples[i].Size, l.heaps) {
			odd++
		}
	}
	if n.m.Reach != nil && l.exceeded(n.m.Reach.Unreachable.Bytes, l.heaps) {
		odd++
	}
	return odd
}

// doubtUses counts the uses of !address -summary that call much more a heap than heaps have reserved.
func (n *instant) doubtUses(l limits) (odd int64) {
	if n.m.Space == nil || !l.known {
		return 0
	}
	for i := range n.m.Space.Uses {
		if u := &n.m.Space.Uses[i]; u.Name == capture.UseHeap && u.Reserved > vast && u.Reserved/1024 > l.heaps {
			odd++
		}
	}
	return odd
}

// room is what all heaps have reserved together. It is not known where one may hold more, in blocks of their own whose
// size is not known.
func (n *instant) room() (whole int64, known bool) {
	open := false
	for i := range n.m.Heaps {
		h := &n.m.Heaps[i]
		whole = sum(whole, sum(h.Reserved, h.Blocks.Bytes))
		open = open || h.Blocks.Count > 0 && h.Blocks.Bytes == 0 || h.Reserved == 0 || isDoubtful(h, space64)
	}
	return whole, whole > 0 && !open
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
