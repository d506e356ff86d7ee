package lifetimes

import "math"

// A block is a living heap block: 32 bytes, without pointers.
type block struct {
	address uint64
	size    uint64
	time    int64
	site    uint32
	thread  uint32
}

// chunkBlocks is how many blocks are allocated at once: 256 KiB. Chunks are never moved, so growing costs no copy.
const chunkBlocks = 1 << chunkShift

const chunkShift = 13

// blockArena numbers the living blocks of all heaps. Numbers that become free are used again, latest first: they are
// the ones still in the cache.
type blockArena struct {
	chunks []*[chunkBlocks]block
	used   uint32 // numbers that were given out at least once
	free   uint32 // head of the list of free numbers, plus one; a free block keeps its successor in site
}

func (a *blockArena) at(id uint32) *block {
	return &a.chunks[id>>chunkShift][id%chunkBlocks]
}

// add gives out a number; ok is false where there is none left.
func (a *blockArena) add() (id uint32, ok bool) {
	if a.free != 0 {
		id = a.free - 1
		a.free = a.at(id).site
		return id, true
	}
	if a.used == math.MaxUint32 {
		return 0, false
	}
	id = a.used
	if int(id>>chunkShift) == len(a.chunks) {
		a.chunks = append(a.chunks, new([chunkBlocks]block))
	}
	a.used++
	return id, true
}

func (a *blockArena) remove(id uint32) {
	a.at(id).site = a.free
	a.free = id + 1
}

// addressIndex finds the blocks of one heap by address: open addressing, linear probing, deletion by shifting back. A
// slot is the low half of the address's hash above the block's number plus one; 0 is empty. The half hash says where
// the slot belongs, so that moving slots about reads no blocks.
type addressIndex struct {
	slots []uint64 // a power of two; at most three quarters are taken
	n     int
}

// noSlot is no place in an index.
const noSlot = -1

// find returns the slot and the block of the address. Where there is none, the slot is the empty one that it may have.
func (x *addressIndex) find(a *blockArena, address uint64) (slot int, id uint32, ok bool) {
	if x.n == 0 {
		return noSlot, 0, false
	}
	mask := len(x.slots) - 1
	h := hash(address)
	for i := int(h) & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			return i, 0, false
		}
		if uint32(s>>32) == h {
			if id := uint32(s) - 1; a.at(id).address == address {
				return i, id, true
			}
		}
	}
}

// insert adds a block whose address is not in the index; slot is where find has ended, or noSlot.
func (x *addressIndex) insert(address uint64, id uint32, slot int) {
	if 4*(x.n+1) > 3*len(x.slots) {
		x.resize(max(8, 2*len(x.slots)))
		slot = noSlot
	}
	x.n++
	s := uint64(hash(address))<<32 | uint64(id+1)
	if slot == noSlot {
		x.place(s)
		return
	}
	x.slots[slot] = s
}

func (x *addressIndex) place(s uint64) {
	mask := len(x.slots) - 1
	i := int(s>>32) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = s
}

func (x *addressIndex) resize(size int) {
	old := x.slots
	x.slots = make([]uint64, size)
	for _, s := range old {
		if s != 0 {
			x.place(s)
		}
	}
}

// remove empties a slot and moves those behind it up that would not be found any more.
func (x *addressIndex) remove(slot int) {
	mask := len(x.slots) - 1
	x.n--
	hole := slot
	for i := (slot + 1) & mask; x.slots[i] != 0; i = (i + 1) & mask {
		home := int(x.slots[i]>>32) & mask
		if (i-home)&mask >= (i-hole)&mask { // its home is not between the hole and itself
			x.slots[hole] = x.slots[i]
			hole = i
		}
	}
	x.slots[hole] = 0
}
