package analysis

import (
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// quietPart is the share of the places that do not grow for which the power holds: the noisiest are left out.
const quietPart = 0.9

// power is the smallest leak that the evidence would show at nine places of ten, for blocks of the average size of the
// heaps' blocks: of regions of VirtualAlloc only where heaps hold none, as a few megabytes of those would make a power
// in bytes of a leak of small blocks that nobody has. It is nil where the evidence could show none, for which why may
// give the reason in words.
func (j *judge) power(r *Report, sites []*judgedSite) (power *Power, why string) {
	held := r.Totals.Heap.Outstanding
	if r.Trace != nil {
		held = held.Plus(r.Totals.Heap.Allocated)
	}
	if held.Count <= 0 {
		held = r.Totals.Virtual.Outstanding
	}
	if held.Count <= 0 {
		return nil, ""
	}
	block := held.Bytes / held.Count
	var p score.Power
	if r.Trace != nil {
		trace, window := r.Trace.capture(), r.Window.capture()
		seen := &allocations.Survival{From: trace.TracedFrom(window, capture.KindHeap),
			Over: min(trace.WorkEnd(window), trace.To)}
		p = score.TracePower(seen, block)
	} else {
		followed := slices.ContainsFunc(sites, func(s *judgedSite) bool { return s.sample.followed })
		p, why = score.SnapshotPower(&j.axis, followed, j.noise(sites), block)
	}
	if !(p.Count > 0) {
		return nil, why
	}
	return &Power{p, p.String()}, ""
}

// noise is how much the count of blocks of places that do not grow scatters about a line, of all but the noisiest.
func (j *judge) noise(sites []*judgedSite) float64 {
	var list []float64
	for _, s := range sites {
		if s.key.kind == capture.KindHeapVirtual || s.result.Class != ClassStable && s.result.Class != ClassTransient {
			continue
		}
		list = append(list, score.CountNoise(j.series(&s.sample), &j.axis))
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(quietPart*float64(len(list)-1))]
}
