package score

import "heapdrift/ingest/capture/allocations"

// warmUp is the share of a run in which a program warms up: what comes in it bounds no leak.
const warmUp = 1.0 / RunParts

// MostLeakedOfSeries is the most blocks that a leak can have left in the run: those that came after the warm-up and
// stayed, plus as many for the warm-up in proportion. Blocks that only the last snapshot shows may be in use, and are
// left out likewise. Where blocks are not followed, the rises of their number stand for them.
func MostLeakedOfSeries(s *Series, a *Axis) float64 {
	n := min(len(s.Count), len(a.At))
	if n < 2 {
		return 0
	}
	at := a.At[:n]
	span := at[n-1] - at[0]
	first, last := 1, n-1 // intervals by their end, the last one left out
	for first < last && !((at[first]+at[first-1])/2-at[0] >= warmUp*span) {
		first++
	}
	if n == 2 {
		last++
	}
	if !(span > 0) || first >= last {
		return 0
	}
	came := int64(0)
	if s.Followed {
		for _, p := range s.Spans {
			if int(p.First) >= first && int(p.First) < last && int(p.Last) == n-1 {
				came += p.Count
			}
		}
	} else {
		for i := first; i < last; i++ {
			came += max(0, s.Count[i]-s.Count[i-1])
		}
	}
	if s.Weight > 0 {
		return float64(came) * s.Weight * span / (at[last-1] - at[first-1])
	}
	return float64(came) * span / (at[last-1] - at[first-1])
}

// MostLeakedOfSurvival is what MostLeakedOfSeries is, for a site of a trace.
func MostLeakedOfSurvival(v *allocations.Survival) float64 {
	n := len(v.Left)
	first, last, came := int(warmUp*float64(n)), n-1, int64(0)
	for _, left := range v.Left[first:last] {
		came += bounded(left)
	}
	return float64(came) * float64(n) / float64(last-first)
}
