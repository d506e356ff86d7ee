package ntheap

import "encoding/binary"

// What stands before the data of a block with a stack trace (+ust, Vista and later), by HeapStat and DbgHelpUtils: the
// entry, a granule that begins with the address of the trace, and an entry of another form that leads back to the
// first. G is 8 or 16.
//
//	field                   offset        source: ntdll's _HEAP_ENTRY, whose members these are
//	trace                   G             address of an _RTL_STACK_TRACE_ENTRY
//	FunctionIndex           2G+compact    u16, _HEAP.Interceptor: 2 in Windows 7 to 8.1, 1 later
//	ContextValue            +2            u16
//	UnusedBytesLength       +4            u16: bytes of the block that were not asked for
//	EntryOffset             +6            u8, 2: granules back to the entry
//	ExtendedBlockSignature  +7            u8, 5
const (
	prefixOffset    = 2
	prefixSignature = 5
)

// The bits of UnusedBytes in Vista and later: those of the number, and that of a prefix. unusedElsewhere is where the
// number is too large for it.
const (
	unusedBits      = 0x3F
	unusedElsewhere = 0x3F
	unusedExtended  = 0x40
)

// A shape is how the place of a block says what of it is the program's.
type shape struct {
	unused   uint64
	extended bool // a prefix stands before the data
	record   bool // a _HEAP_ENTRY_EXTRA stands at the end
}

// block hands out the block of an entry: size bytes from at, of which unused were not asked for.
func (n *ntWalk) block(at, size uint64, e entry, place Area) error {
	if n.layout.old {
		return n.oldBlock(at, size, e, place)
	}
	return n.sized(at, size,
		shape{uint64(e.unused & unusedBits), e.unused&unusedExtended != 0, e.flags&entryExtra != 0}, place)
}

// sized hands out a block of Vista or later.
func (n *ntWalk) sized(at, size uint64, s shape, place Area) error {
	granularity, unused := n.layout.entry.granularity, s.unused
	b := Block{Address: at + granularity, Area: place}
	w := n.seq
	if place == Virtual {
		w = n.near
	}
	switch {
	case s.extended:
		trace, length, kept := n.prefix(w, at, size)
		switch kept {
		case prefixMissing:
			n.gap("block", at, size, "what stands before its data is not in the evidence")
			return nil
		case prefixNone: // that it should be there is all that is known
			n.odd.add(at)
			unused = b.Address - at
		default:
			b.Address, b.Trace = at+3*granularity, trace
			if place != Virtual {
				unused = length
			}
		}
	case unused == unusedElsewhere && place != Virtual:
		if unused = n.unusedBehind(at+size, size); unused >= unusedElsewhere {
			break
		}
		// The number is none that stands there. Tools that write such blocks themselves leave the bit of the prefix out.
		trace, length, kept := n.prefix(w, at, size)
		if kept != prefixThere {
			n.odd.add(at)
			unused = unusedElsewhere
			break
		}
		b.Address, b.Trace, unused = at+3*granularity, trace, length
	}
	switch {
	case s.extended || !s.record || !n.heaps.StackTraces && !n.heaps.blind:
	case place == Virtual:
		b.Trace = n.indexed(at - n.layout.virtualBusy + 2*w.pointerSize())
	default:
		b.Trace = n.indexed(at + size - granularity)
	}
	if unused > size {
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
	if size < 3*granularity {
		return 0, 0, prefixNone
	}
	p := w.bytes(at+granularity, int(2*granularity))
	if p == nil {
		return 0, 0, prefixMissing
	}
	x := p[granularity+n.layout.entry.compact:]
	if x[6] != prefixOffset || x[7] != prefixSignature {
		return 0, 0, prefixNone
	}
	if w.wide {
		trace = binary.LittleEndian.Uint64(p)
	} else {
		trace = uint64(binary.LittleEndian.Uint32(p))
	}
	return n.heaps.stacks.known(trace), uint64(binary.LittleEndian.Uint16(x[4:])), prefixThere
}

// unusedBehind reads the number of unused bytes of a block that has 63 or more: the lowest 16 bits of the last word, of
// the size of a pointer, that the program may use. With 64 bits that word begins the next entry, which lends it; with
// 32 bits no entry lends anything, and it is the block's last (Valasek, Windows 8 Heap Internals, 2012).
func (n *ntWalk) unusedBehind(end, size uint64) uint64 {
	v, ok := n.near.u16(end + n.layout.entry.compact - n.near.pointerSize())
	if !ok {
		n.unread.add(end - size)
		return unusedElsewhere
	}
	return uint64(v)
}
