package ntheap

import "heapdrift/ingest/capture"

// oldUnusedElsewhere is UnusedBytes of Windows XP and 2003 where the number is too large for it: the last four bytes of
// the block have it.
const oldUnusedElsewhere = 0xFF

// oldBlock hands out a block of Windows XP or 2003. Where its flags say so it ends in a _HEAP_ENTRY_EXTRA, which has
// the number of its stack trace.
func (n *ntWalk) oldBlock(at, size uint64, e entry, place Area) error {
	granularity := n.layout.entry.granularity
	b := Block{Address: at + granularity, Area: place}
	if e.flags&entryExtra != 0 && size >= 2*granularity {
		b.Trace = n.indexed(at + size - granularity)
	}
	unused := uint64(e.unused)
	if unused == oldUnusedElsewhere {
		v, ok := n.near.u32(at + size - 4)
		if unused = uint64(v); !ok {
			unused = oldUnusedElsewhere
			n.unread.add(at)
		} else if place == LFH { // ntdll takes the lowest byte: HeapSize, UMDH and !heap say as much, so does this walk
			unused &= 0xFF
		}
	}
	if unused > size {
		n.odd.add(at)
		unused = granularity
	}
	b.Size, b.Overhead = size-unused, unused
	if n.stamped && !n.stamp(n.seq, &b) {
		return nil
	}
	return n.busy(b)
}

// oldVirtual hands out a virtual block of Windows XP or 2003, whose _HEAP_ENTRY_EXTRA follows the link it begins with.
func (n *ntWalk) oldVirtual(at, commit uint64, e entry) error {
	unused := uint64(e.size)
	b := Block{Address: at + n.layout.virtualBusy + n.layout.entry.granularity, Area: Virtual}
	if e.flags&entryExtra != 0 {
		b.Trace = n.indexed(at + 2*n.near.pointerSize())
	}
	if unused > commit {
		n.odd.add(at)
		unused = b.Address - at
	}
	b.Size, b.Overhead = commit-min(unused, commit), min(unused, commit)
	return n.busy(b)
}

// lookasideLists is how many lists of free blocks a lookaside front end has, one for each size in granules.
const lookasideLists = 128

// readLookaside finds the free blocks that a front end of Windows XP or 2003 keeps for the next request. Their entries
// stay busy.
func (n *ntWalk) readLookaside() error {
	if !n.layout.old || n.frontEndType != frontEndLookaside || n.frontEnd == 0 {
		return nil
	}
	n.unused = map[uint64]bool{}
	for i := range uint64(lookasideLists) {
		head := n.frontEnd + i*n.layout.lookasideSize
		next, depth := n.slist(head)
		for range depth {
			if err := n.step(); err != nil {
				return err
			}
			after, ok := n.near.pointer(next)
			if next == 0 || n.unused[next] || !ok {
				n.warn(capture.Inconsistent, 1, head,
					"free blocks of heap %#x may be counted as busy: a lookaside list breaks off at %#x", n.handle, next)
				break
			}
			n.unused[next] = true
			next = after
		}
	}
	return nil
}

// slist reads the head of a list of free blocks, SLIST_HEADER of winnt.h. Its 64-bit form of the time has the depth in
// 16 bits, a sequence number in 9 and the address without its lowest 4 bits in 39; what is above is that of the head.
func (n *ntWalk) slist(head uint64) (next uint64, depth uint16) {
	v, ok := n.near.u64(head)
	switch {
	case !ok:
		return 0, 0
	case !n.near.wide:
		return v & 0xFFFFFFFF, uint16(v >> 32)
	}
	const low = 1<<43 - 1
	if next = v >> 25 << 4; next != 0 {
		next |= head &^ low
	}
	return next, uint16(v)
}
