package capture

import "math/rand/v2"

// An index finds rows of a table by content without keeping the content twice, in open addressing with linear steps.
// Evidence has up to millions of frames, and a map would cost several times as much time and memory.
//
// A slot holds 32 bits of the row's hash above the row's number + 1; 0 is free. The bits of the hash give the place of the
// row, and tell nearly all other rows apart without a look at the table.
type index struct {
	slots []uint64 // the length is a power of two
	used  int
}

const rowBits = 1<<32 - 1

// find returns the slot of the row that has this hash and equals what is looked for, or the free slot for it. The slot is
// good until the next fill.
func (x *index) find(hash uint32, equals func(row uint32) bool) *uint64 {
	if x.slots == nil {
		x.slots = make([]uint64, 1<<10)
	}
	mask := uint64(len(x.slots) - 1)
	for i := uint64(hash) & mask; ; i = (i + 1) & mask {
		slot := &x.slots[i]
		if *slot == 0 || uint32(*slot>>32) == hash && equals(rowIn(slot)) {
			return slot
		}
	}
}

// rowIn is the row in a slot that is not free.
func rowIn(slot *uint64) uint32 { return uint32(*slot&rowBits) - 1 }

// fill enters a row into the free slot that find returned for the hash.
func (x *index) fill(slot *uint64, hash uint32, row uint32) {
	*slot = uint64(hash)<<32 | uint64(row) + 1
	if x.used++; x.used*2 < len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]uint64, 4*len(old))
	for _, entered := range old {
		if entered != 0 {
			*x.find(uint32(entered>>32), func(uint32) bool { return false }) = entered
		}
	}
}

// seed makes the places of rows differ from process to process, so that nobody can choose addresses that collide.
var seed = rand.Uint64()

// mix spreads the bits of v.
func mix(v uint64) uint64 {
	v = (v + seed) * 0x9E3779B97F4A7C15
	v ^= v >> 32
	return v * 0xD6E8FEB86659FD93
}
