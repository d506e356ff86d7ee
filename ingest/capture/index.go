package capture

import (
	"math/bits"
	"math/rand/v2"
	"sync"
)

// An index finds rows of a table by content without keeping the content twice, in open addressing with linear steps.
// Evidence has up to millions of frames, and a map would cost several times as much time and memory.
//
// A slot holds 32 bits of the row's hash above the row's number + 1; 0 is free. The bits of the hash give the place of
// the row, and tell nearly all other rows apart without a look at the table.
type index struct {
	slots []uint64 // the length is a power of two
	used  int
}

const rowBits = 1<<32 - 1

// leastSlots are few: of the captures of a trace, most may have a stack or two.
const leastSlots = 1 << 4

// find returns the slot of the row that has this hash and equals what is looked for, or the free slot for it. The slot
// is good until the next fill.
func (x *index) find(hash uint32, equals func(row uint32) bool) *uint64 {
	if x.slots == nil {
		x.slots = make([]uint64, leastSlots)
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
	if x.used++; x.used*8 >= len(x.slots)*5 {
		x.grow()
	}
}

// grow makes room for more: fast while it is small, and by as little as may be where it is large.
func (x *index) grow() {
	const large = 1 << 18
	old, times := x.slots, 4
	if len(old) >= large {
		times = 2
	}
	x.slots = newSlots(times * len(old))
	mask := uint64(len(x.slots) - 1)
	for _, entered := range old {
		if entered != 0 {
			at := entered >> 32 & mask
			for x.slots[at] != 0 {
				at = (at + 1) & mask
			}
			x.slots[at] = entered
		}
	}
	freeSlots(old)
}

// free gives the memory of an index back that nothing is looked up in any more.
func (x *index) free() {
	freeSlots(x.slots)
	*x = index{}
}

// manySlots is from how many slots on their memory is kept for the next index: an index is gone as soon as its evidence
// is read, and files of a series need as many, one after the other. Memory that was touched before costs a tenth of new
// memory.
const manySlots = 1 << 14

// spareSlots are slots that are no longer needed, by the logarithm of their number.
var spareSlots [48]sync.Pool

// newSlots are n free slots; n is a power of two.
func newSlots(n int) []uint64 {
	if n >= manySlots {
		if spare, ok := spareSlots[bits.TrailingZeros(uint(n))].Get().(*[]uint64); ok {
			clear(*spare)
			return *spare
		}
	}
	return make([]uint64, n)
}

func freeSlots(slots []uint64) {
	if len(slots) >= manySlots {
		spareSlots[bits.TrailingZeros(uint(len(slots)))].Put(&slots)
	}
}

// These make the places of rows differ from process to process, so that nobody can choose addresses that collide. The
// factor is as unknown as the seed: by a known one, differences can be chosen that collide under a good part of all
// seeds.
var (
	seed   = rand.Uint64()
	factor = rand.Uint64() | 1
	salt   = rand.Uint64() | 1
)

// mix spreads the bits of v.
func mix(v uint64) uint64 {
	high, low := bits.Mul64(v^seed, factor)
	return high ^ low
}
