package umdh

import (
	"hash/maphash"
	"math/bits"
)

// A table maps keys to indices by open addressing: no allocation per key, and one cache line for a key that is
// there. Its hash is seeded, so that no log can be made whose keys all collide.
type table struct {
	slots []slot // a power of two, at most half of them taken
	n     int
	seed  uint64
}

// A slot has 16 bytes: four to a cache line.
type slot struct {
	key   uint64
	tag   uint32 // second part of the key
	index uint32 // plus 1; 0 is a free slot
}

// find returns the index of a key.
func (t *table) find(key uint64, tag uint32) (index uint32, known bool) {
	s := t.at(key, tag)
	return s.index - 1, s.index != 0
}

// intern returns the index of a key. Where the key is absent it gets the given index, and known is false.
func (t *table) intern(key uint64, tag, index uint32) (found uint32, known bool) {
	s := t.at(key, tag)
	if s.index != 0 {
		return s.index - 1, true
	}
	*s = slot{key, tag, index + 1}
	if t.n++; t.n*2 > len(t.slots) {
		t.grow()
	}
	return index, false
}

// at is the slot of a key, or the free one where it would go.
func (t *table) at(key uint64, tag uint32) *slot {
	mask := uint(len(t.slots) - 1)
	for at := t.home(key, tag); ; at++ {
		s := &t.slots[at&mask]
		if s.key == key && s.tag == tag || s.index == 0 {
			return s
		}
	}
}

// home is the place where the search for a key begins.
func (t *table) home(key uint64, tag uint32) uint {
	high, low := bits.Mul64(key^t.seed, 0x9E3779B97F4A7C15^uint64(tag)<<32)
	return uint(high^low) & uint(len(t.slots)-1)
}

// newTable makes an empty table.
func newTable() table {
	return table{slots: make([]slot, 1<<6), seed: maphash.Bytes(maphash.MakeSeed(), nil)}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.index != 0 {
			*t.at(s.key, s.tag) = s
		}
	}
}
