package analysis

import (
	"fmt"
	"math"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
)

// A HeapFree is the free part of the committed bytes of a heap: memory that the process is charged for and that holds
// nothing.
type HeapFree struct {
	Committed int64
	Free      int64 // of Committed, in free blocks of the heap and of its low-fragmentation heap
	// Largest is the largest free block: a larger one takes new memory, however much is free. 0 where the evidence does
	// not tell.
	Largest int64
}

// FreeOf tells how much of a heap is free; ok is false where the evidence does not tell what is free, or its numbers contradict
// each other.
func FreeOf(h *capture.HeapFacts) (r HeapFree, ok bool) {
	free := h.Free.Add(h.FreeLFH)
	isTold := h.Walked > 0 || h.Free.Bytes > 0
	if !isTold || h.Doubtful || h.Committed <= 0 || h.Free.Bytes < 0 || h.FreeLFH.Bytes < 0 || free.Bytes < 0 {
		return r, false
	}
	r = HeapFree{Committed: h.Committed, Free: min(free.Bytes, h.Committed)} // a free block of an old heap has pages that are given back
	r.Largest = min(max(0, h.LargestFree), r.Free)
	return r, true
}

// FreeShare is the part of the committed bytes that is free.
func (r *HeapFree) FreeShare() float64 { return float64(r.Free) / float64(r.Committed) }

// Scattered is the part of what is free that lies outside of the largest free block; ok is false where that is not
// told.
func (r *HeapFree) Scattered() (part float64, ok bool) {
	if r.Largest == 0 || r.Free == 0 {
		return 0, false
	}
	return 1 - float64(r.Largest)/float64(r.Free), true
}

// DescribeHeapFree sums the free memory of heaps, and names the one with most; "" where no heap tells it.
func DescribeHeapFree(heaps []capture.HeapFacts) string {
	var sum HeapFree
	var most *capture.HeapFacts
	var mostFree int64
	n := 0
	for i := range heaps {
		r, ok := FreeOf(&heaps[i])
		if !ok {
			continue
		}
		n++
		sum.Committed += min(r.Committed, math.MaxInt64-sum.Committed)
		sum.Free, sum.Largest = sum.Free+min(r.Free, math.MaxInt64-sum.Free), max(sum.Largest, r.Largest)
		if most == nil || r.Free > mostFree {
			most, mostFree = &heaps[i], r.Free
		}
	}
	if n == 0 {
		return ""
	}
	of := figures.Plural(n, "heap")
	if n < len(heaps) {
		of = fmt.Sprintf("%d of %s, of which the evidence tells it,", n, figures.Plural(len(heaps), "heap"))
	}
	s := fmt.Sprintf("Of %s that %s commit, %s are free inside (%.1f %%)", figures.Bytes(sum.Committed), of,
		figures.Bytes(sum.Free), 100*sum.FreeShare())
	if n == 1 {
		s = fmt.Sprintf("Of %s that %s commits, %s are free inside (%.1f %%)", figures.Bytes(sum.Committed), of,
			figures.Bytes(sum.Free), 100*sum.FreeShare())
	}
	if sum.Free == 0 {
		return s + "."
	}
	if sum.Largest > 0 {
		s += "; the largest free block has " + figures.Bytes(sum.Largest)
	}
	if n > 1 {
		s += fmt.Sprintf("; most are in heap %v, %s", most.Handle, figures.Bytes(mostFree))
	}
	return s + "."
}
