package analysis

import (
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// rates are, by instant, how many bytes lie between recorded allocations on average; nil where all are recorded.
// Growth is judged by the recorded blocks: a site whose estimate rises by 8,000 blocks may have one block more in the
// sample.
func (s *series) rates() []int64 {
	if !slices.ContainsFunc(s.parts, func(p part) bool { return p.Sampling > 0 }) {
		return nil
	}
	rates := make([]int64, len(s.instants))
	for i, at := range s.instants {
		rates[i] = s.parts[at.part].Sampling
	}
	return rates
}

// samplesList reports whether a list of what was left at exit is of recorded blocks only: what is not in it may be
// left.
func (d *draft) samplesList() bool {
	return slices.ContainsFunc(d.parts, func(p part) bool { return p.isList() && p.Sampling > 0 })
}

// recordedToShow is how many recorded blocks are to be expected for three to be there with 90 % probability, by
// Poisson's distribution: three are what a judgement needs.
const recordedToShow = 5.32

// sampledWarning says that the numbers are estimates, and what a sample may miss; none of other evidence.
func (s *series) sampledWarning() []Warning {
	last := &s.parts[len(s.parts)-1]
	if last.Sampling == 0 {
		return nil
	}
	recorded := int64(0)
	for i := range last.Sites {
		recorded += last.Sites[i].Usage[0].Recorded(last.Sampling)
	}
	return []Warning{{Code: capture.Sampled, Count: recorded, File: last.file, Message: fmt.Sprintf(
		"Counts and bytes are estimates from %s. The profiler records an allocation every %s on average, so growth of less than %s may not show.",
		quantity.Plural(recorded, "recorded block"), quantity.Bytes(last.Sampling),
		quantity.Bytes(int64(recordedToShow*float64(last.Sampling))))}}
}
