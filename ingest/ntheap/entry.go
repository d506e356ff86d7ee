package ntheap

import "encoding/binary"

// The bits of _HEAP_ENTRY.Flags (documented with RtlWalkHeap and the !heap command). In Vista and later internal marks
// what the heap has allocated for itself, above all containers of the low-fragmentation heap.
const (
	entryBusy     = 0x01
	entryExtra    = 0x02
	entryInternal = 0x08
)

// leastUnused is the least number of unused bytes of a block that a program has asked for: the part of its entry that
// is not lent to the block before. What the heap has made for itself says less: 1 in the index of free blocks, 3 where
// the descriptor of an uncommitted range is (seen in a real process of Windows 7).
const leastUnused = 8

// entryFormat is where the fields of a _HEAP_ENTRY lie in its last 8 bytes, as shifts of the number that they make. In
// 64-bit processes 8 bytes lie before, which belong to the block in front.
type entryFormat struct {
	granularity                   uint64 // of blocks, and the size of an entry: 8 or 16
	compact                       uint64 // where the 8 bytes begin
	size, flags, previous, unused uint
}

// An entry is a decoded _HEAP_ENTRY. Size and Previous are in granules.
type entry struct {
	size, previous uint16
	flags, unused  uint8
}

func newEntryFormat(n *lookup, wide bool) entryFormat {
	f := entryFormat{granularity: 8}
	if wide {
		f.granularity, f.compact = 16, 8
	}
	shift := func(field string) uint { return uint(8*(n.at("_HEAP_ENTRY", field)-f.compact)) & 63 }
	f.size, f.flags, f.previous, f.unused = shift("Size"), shift("Flags"), shift("PreviousSize"), shift("UnusedBytes")
	return f
}

func (f *entryFormat) decode(v uint64) entry {
	return entry{uint16(v >> f.size), uint16(v >> f.previous), uint8(v >> f.flags), uint8(v >> f.unused)}
}

func (f *entryFormat) decodeBytes(b []byte) entry { return f.decode(binary.LittleEndian.Uint64(b)) }

// sound checks the first four bytes of a decoded entry, the last of which is the exclusive or of the others.
func sound(v uint64) bool {
	v ^= v >> 16
	return (v^v>>8)&0xFF == 0
}

// An encoding is how a heap disguises its entries: where the entry has the bit of mask, the whole is combined with key.
// A mask of 0 leaves them plain, and unchecked.
type encoding struct {
	key, mask uint64
}

// read decodes the entry whose 8 bytes are b. A plain entry in a heap that encodes is possible while the heap is being
// changed; it is believed if it says rightly how long the block before is.
func (n *ntLayout) read(b []byte, enc encoding, previous uint16) (entry, bool) {
	raw := binary.LittleEndian.Uint64(b)
	if enc.mask == 0 {
		e := n.entry.decode(raw)
		return e, e.size > 0
	}
	v := raw ^ enc.key
	e := n.entry.decode(v)
	if sound(v) && e.size > 0 {
		return e, true
	}
	if raw&enc.mask == 0 {
		if plain := n.entry.decode(raw); plain.size > 0 && plain.previous == previous && previous > 0 {
			return plain, true
		}
	}
	return e, false
}
