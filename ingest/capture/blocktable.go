package capture

import "math/bits"

// A blockTable finds blocks by their keys, in open addressing with linear steps.
type blockTable struct {
	slots []blockSlot // the length is a power of two
	used  int
}

// A blockSlot is free where its key is 0.
type blockSlot struct {
	key   uint64
	site  int32
	since int32 // the snapshot since which the block is in all; 0 for one that was gone for a while, too
}

// blockKey is 64 bits of a block's identity, not 0. Of five million blocks two that are not the same have one key in a series of
// a million.
func blockKey(address, size uint64, site int32) uint64 {
	return max(1, mix(address^mix(size<<32^uint64(site))))
}

func newBlockTable(blocks int) *blockTable {
	return &blockTable{slots: make([]blockSlot, max(2*len(blockBatch{}.keys), 1<<bits.Len(uint(blocks+blocks/4))))}
}

// find is the slot of a key, or the free one for it.
func (t *blockTable) find(key uint64) *blockSlot {
	mask := uint64(len(t.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.key == key || s.key == 0 {
			return s
		}
	}
}

// enter fills the free slot that find returned.
func (t *blockTable) enter(slot *blockSlot, block blockSlot) {
	*slot = block
	if t.used++; t.used <= len(t.slots)/8*7 {
		return
	}
	old := t.slots
	t.slots = make([]blockSlot, 2*len(old))
	for i := range old {
		if old[i].key != 0 {
			*t.find(old[i].key) = old[i]
		}
	}
}

// A blockBatch is blocks that are looked up together: the table is far larger than the processor's caches, and the processor
// waits for many slots at once where it need not look into one to know the next.
type blockBatch struct {
	keys  [256]uint64
	sites [256]int32
	n     int
	met   uint64 // of what is read ahead, so that it is read
}

// find calls do for each block of the batch, and empties it.
func (b *blockBatch) find(t *blockTable, do func(slot *blockSlot, key uint64, site int32)) {
	mask := uint64(len(t.slots) - 1)
	for _, key := range b.keys[:b.n] {
		b.met |= t.slots[key&mask].key
	}
	for i, key := range b.keys[:b.n] {
		do(t.find(key), key, b.sites[i])
	}
	b.n = 0
}
