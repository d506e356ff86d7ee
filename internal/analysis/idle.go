package analysis

import (
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// A stretch of a trace is idle where less than idleShare of what happens in the busy quarter of stretches does. Where a
// timeline has fewer than idleLeast points, nothing can be told.
const (
	idleShare = 0.05
	idleLeast = 4 * allocations.SurvivalBins
)

// working is how much work a process did in each bin of a window as its outstanding memory tells: nothing where that
// hardly changed, and as much in all other bins; nil where nothing can be told. Time without work at the end of a trace
// must not make a leak look like growth that came to its end.
func (t *Trace) working(w capture.Window) []float64 {
	trace := t.capture()
	over := allocations.Survival{From: trace.TracedFrom(w, capture.KindHeap), Over: min(trace.WorkEnd(w), trace.To)}
	if over.Over <= over.From {
		return nil
	}
	var changes [allocations.SurvivalBins]int
	all := 0
	for _, line := range []*Timeline{&t.HeapTimeline, &t.VirtualTimeline} {
		for _, at := range line.AtNS {
			if at >= over.From && at <= over.Over {
				changes[over.Bin(at)]++
				all++
			}
		}
	}
	if all < idleLeast {
		return nil
	}
	busy := slices.Sorted(slices.Values(changes[:]))[allocations.SurvivalBins*3/4]
	load, worked := make([]float64, allocations.SurvivalBins), 0.0
	for i, n := range changes {
		if float64(n) >= idleShare*float64(busy) {
			load[i] = 1
			worked++
		}
	}
	for i := range load {
		load[i] /= worked
	}
	return load
}
