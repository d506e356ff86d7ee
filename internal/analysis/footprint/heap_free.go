package footprint

import (
	"fmt"
	"math"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// A HeapFree is the free part of the committed bytes of a heap. The process is charged for it although no block uses
// it.
type HeapFree struct {
	Committed int64
	Free      int64 // of Committed: in free blocks of the heap and of its low-fragmentation heap
	// Largest is the largest free block: a larger allocation takes new memory, however much is free. 0 if unknown.
	Largest int64
}

// HeapFreeOf returns the free part of a heap. ok is false where the evidence does not list free blocks, or its numbers
// contradict each other.
func HeapFreeOf(h *capture.HeapFacts) (r HeapFree, ok bool) {
	free := h.Free.Add(h.FreeLFH)
	isTold := h.Walked > 0 || h.Free.Bytes > 0
	if !isTold || h.Doubtful || h.Committed <= 0 || h.Free.Bytes < 0 || h.FreeLFH.Bytes < 0 || free.Bytes < 0 {
		return r, false
	}
	r = HeapFree{Committed: h.Committed, Free: min(free.Bytes, h.Committed)} // a free block of an old heap has pages that are given back
	r.Largest = min(max(0, h.LargestFree), r.Free)
	return r, true
}

// FreeShare is the part of the committed bytes that is free, from 0 to 1.
func (r *HeapFree) FreeShare() float64 { return float64(r.Free) / float64(r.Committed) }

// ScatteredShare is the part of the free bytes, from 0 to 1, that lies outside of the largest free block; ok is false
// where that block is unknown.
func (r *HeapFree) ScatteredShare() (part float64, ok bool) {
	if r.Largest == 0 || r.Free == 0 {
		return 0, false
	}
	return 1 - float64(r.Largest)/float64(r.Free), true
}

// DescribeHeapFree sums the free bytes of heaps, and names the heap with most; "" where they are unknown for all heaps.
func DescribeHeapFree(heaps []capture.HeapFacts) string {
	var sum HeapFree
	var most *capture.HeapFacts
	var mostFree int64
	n := 0
	for i := range heaps {
		r, ok := HeapFreeOf(&heaps[i])
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
	commit := "commit"
	if n == 1 {
		commit = "commits"
	}
	s := fmt.Sprintf("%s %s %s; %s of that are free (%.1f %%).", quantity.Plural(n, "heap"), commit,
		quantity.Bytes(sum.Committed), quantity.Bytes(sum.Free), 100*sum.FreeShare())
	var facts []string
	if sum.Largest > 0 {
		facts = append(facts, "Largest free block: "+quantity.Bytes(sum.Largest)+".")
	}
	if n > 1 && sum.Free > 0 {
		facts = append(facts, fmt.Sprintf("Most free: heap %v (%s).", most.Handle, quantity.Bytes(mostFree)))
	}
	if n < len(heaps) {
		facts = append(facts, fmt.Sprintf("Unknown for %s.", quantity.Plural(len(heaps)-n, "other heap")))
	}
	return strings.Join(append([]string{s}, facts...), " ")
}
