package allocations

import "math/bits"

// SurvivalBins is how many stretches of equal length a window is divided into for Survival.
const SurvivalBins = 64

// LifetimeBuckets is how many buckets the lifetimes of ended allocations are sorted into: bucket b holds lifetimes from
// 2^(b/2) ns on, two buckets for each doubling.
const LifetimeBuckets = 128

// A Survival says of one site when the allocations of a window were made, which of them were left when it was over, and
// how long the others lived. From is the window's beginning, or the process's where that is inside; Over is the
// window's end, or the beginning of the process's teardown where that is inside.
type Survival struct {
	From, Over TraceTime           // ns since the trace's start; bins divide [From, Over]
	Born       [SurvivalBins]int64 // allocations made in each bin
	Left       [SurvivalBins]int64 // those of Born that were still held at Over
	LeftBytes  [SurvivalBins]int64 // the bytes of Left
	// Ended counts the allocations made and freed inside, by the Bucket of their lifetime.
	Ended [LifetimeBuckets]int64
	// LateUnknownFrees are frees in the second half whose allocation is older than the trace and that may have been of
	// this site: its share of those of its heap. A free event has no size, so that nothing but the heap tells.
	LateUnknownFrees int64
}

// BinWidth is the length of the bins of [from, over] in ns. The last ones are up to 63 ns shorter in all.
func BinWidth(from, over int64) uint64 {
	return (uint64(over)-uint64(from))/SurvivalBins + 1
}

// Bin is the index of the bin of an instant in ns, which lies inside [From, Over].
func (s *Survival) Bin(at int64) int {
	return int((uint64(at) - uint64(s.From)) / BinWidth(s.From, s.Over))
}

// BinFloor is the instant in ns at which bin b begins, Over at the latest.
func (s *Survival) BinFloor(b int) int64 {
	span, after := uint64(s.Over)-uint64(s.From), uint64(b)*BinWidth(s.From, s.Over)
	return s.From + int64(min(after, span))
}

// Total is what was allocated (born) and what of it was still held at Over (left), over all bins.
func (s *Survival) Total() (born int64, left Usage) {
	for b := range s.Born {
		born += s.Born[b]
		left.Count += s.Left[b]
		left.Bytes += s.LeftBytes[b]
	}
	return born, left
}

// rootTwo is the square root of 2, times 2^63, rounded up.
const rootTwo = 0xB504F333F9DE6485

// Bucket is the bucket of a lifetime in ns; one below 1 ns counts as 1 ns.
func Bucket(lifetime uint64) int {
	lifetime = max(lifetime, 1)
	doubling := bits.Len64(lifetime) - 1
	if lifetime<<(63-doubling) >= rootTwo {
		return 2*doubling + 1
	}
	return 2 * doubling
}
