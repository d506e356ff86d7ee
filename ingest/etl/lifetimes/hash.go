package lifetimes

import (
	"math/bits"
	"math/rand/v2"
)

// The author of a trace chooses the addresses and handles in it, and thereby the ids of stacks and owners. What these
// numbers are differs from one run to the next, so that nobody can choose keys that fall together in a table.
var (
	seed   = rand.Uint64()
	factor = rand.Uint64() | 1
	salt   = rand.Uint64() | 1
)

// hash spreads addresses, whose low bits are 0 and whose high bits are alike. Both halves of the product count: the low
// one alone knows nothing of the key's high bits. A second product spreads what the first leaves in rows:
// without it, keys in steps of a power of two fell together for one seed in eleven (TestChosenKeysDoNotCollide).
func hash(v uint64) uint32 {
	high, low := bits.Mul64(v^seed, factor)
	high, low = bits.Mul64(high^low, salt)
	return uint32(high ^ low)
}

// heapHash keeps process and handle apart by a number that is not known, else a handle could make up for a process.
func heapHash(process uint32, handle uint64) uint32 {
	return hash(handle ^ uint64(process)*salt)
}

func siteHash(owner, stack uint32) uint32 { return hash(uint64(owner)<<32 | uint64(stack)) }
