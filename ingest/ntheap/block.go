package ntheap

import "encoding/binary"

// What stands before the data of a block with a stack trace (+ust, Vista and later), by HeapStat and DbgHelpUtils: the entry, a
// granule that begins with the address of the trace, and an entry of another form that leads back to the first. G is 8 or 16.
//
//	field                   offset        source: ntdll's _HEAP_ENTRY, whose members these are
//	trace                   G             address of an _RTL_STACK_TRACE_ENTRY
//	FunctionIndex           2G+compact    u16, 1
//	ContextValue            +2            u16
//	UnusedBytesLength       +4            u16: bytes of the block that were not asked for
//	EntryOffset             +6            u8, 2: granules back to the entry
//	ExtendedBlockSignature  +7            u8, 5
const (
	prefixFunction  = 1
	prefixOffset    = 2
	prefixSignature = 5
)

// unusedElsewhere is UnusedBytes where the number is too large for it: the end of the block holds it then, or the prefix.
const unusedElsewhere = 0x3F

// block hands out the block of an entry: size bytes from at, of which unused were not asked for.
func (n *ntWalk) block(at, size uint64, e entry, place Place) error {
	if n.layout.old {
		return n.oldBlock(at, size, e)
	}
	return n.sized(at, size, uint64(e.unused), place)
}

// sized hands out a block of Vista or later.
func (n *ntWalk) sized(at, size, unused uint64, place Place) error {
	granularity := n.layout.entry.granularity
	b := Block{Address: at + granularity, Place: place}
	w := n.seq
	if place == Virtual {
		w = n.near
	}
	trace, length, kept := n.prefix(w, at, size)
	switch {
	case kept == prefixThere:
		unused, b.Address, b.Trace = length, at+3*granularity, trace
	case kept == prefixMissing:
		n.gap("block", at, size, "what stands before its data is not in the evidence")
		return nil
	case unused == unusedElsewhere && place != Virtual:
		unused = n.unusedAtEnd(at+size, size)
	}
	if unused >= size {
		n.odd.add(at)
		unused = b.Address - at
	}
	b.Size, b.Overhead = size-min(size, unused), min(size, unused)
	if n.stamped && !n.stamp(w, &b) {
		return nil
	}
	return n.busy(b)
}

// The outcomes of looking for a prefix.
const (
	prefixNone = iota
	prefixThere
	prefixMissing // its memory is
)

// prefix reads what stands before a block with a stack trace.
func (n *ntWalk) prefix(w *window, at, size uint64) (trace, unused uint64, kept int) {
	granularity := n.layout.entry.granularity
	if !n.heaps.StackTraces && !n.heaps.blind || size < 3*granularity {
		return 0, 0, prefixNone
	}
	p := w.bytes(at+granularity, int(2*granularity))
	if p == nil && !n.heaps.StackTraces {
		return 0, 0, prefixNone
	}
	if p == nil {
		return 0, 0, prefixMissing
	}
	x := p[granularity+n.layout.entry.compact:]
	if binary.LittleEndian.Uint16(x) != prefixFunction || x[6] != prefixOffset || x[7] != prefixSignature {
		return 0, 0, prefixNone
	}
	if w.wide {
		trace = binary.LittleEndian.Uint64(p)
	} else {
		trace = uint64(binary.LittleEndian.Uint32(p))
	}
	return n.heaps.stacks.known(trace), uint64(binary.LittleEndian.Uint16(x[4:])), prefixThere
}

// unusedAtEnd looks for the number of unused bytes at the end of a block. Public sources differ in its width, so each is tried: no
// other number there is at least unusedElsewhere and less than the block.
func (n *ntWalk) unusedAtEnd(end, size uint64) uint64 {
	b := n.near.bytes(end-4, 4)
	if b == nil {
		n.unread.add(end - size)
		return unusedElsewhere
	}
	for _, v := range [3]uint64{uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint16(b[2:])), uint64(binary.LittleEndian.Uint16(b))} {
		if v >= unusedElsewhere && v < size {
			return v
		}
	}
	return unusedElsewhere
}
