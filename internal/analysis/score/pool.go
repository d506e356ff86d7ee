package score

import "math"

// What one run adds to a pool is bounded on both sides, in log odds beyond what convicts alone and below what is
// excluded: no run that is odd convicts or acquits by itself.
const (
	poolMost  = 4
	poolLeast = -8
)

// A pooling is how several runs are judged together: by the mean of what they say, which scatters the less the more
// there are.
type pooling struct {
	kind          Kind // KindTraced where all runs are traces, else Followed
	runs          int  // for so many and more, up to the next of the kind
	calibration   calibration
	leak, certain float64
}

// A PooledResult is the judgement on several runs together.
type PooledResult struct {
	Runs    int     `json:"runs"`     // how many
	LogOdds float64 `json:"log_odds"` // mean over the runs, each within bounds
	Score   float64 `json:"score"`    // probability of a leak, 0 to 1
	Leaks   bool    `json:"leaks"`    // it is called a leak
	Certain bool    `json:"certain"`  // it may fail a gate
}

// JudgeTogether judges runs of the same work together. An element is nil for a run that shows the signature and nothing
// that could be a leak. ok is false with fewer than two runs: the judgement on the single run stands.
func JudgeTogether(runs []*Evidence) (p PooledResult, ok bool) {
	kind := KindTraced
	for _, e := range runs {
		if e != nil && e.Kind != KindTraced {
			kind = KindFollowed
		}
	}
	var by *pooling
	for i := range poolings {
		if poolings[i].kind == kind && poolings[i].runs <= len(runs) {
			by = &poolings[i]
		}
	}
	if by == nil || len(runs) < 2 {
		return p, false
	}
	p.Runs = len(runs)
	for _, e := range runs {
		p.LogOdds += e.PoolableLogOdds() / float64(len(runs))
	}
	p.Score = by.calibration.of(p.LogOdds)
	p.Leaks, p.Certain = p.LogOdds >= by.leak, p.LogOdds >= by.certain
	return p, true
}

// PoolableLogOdds is LogOdds within the bounds for pools. A nil Evidence, of a run that shows nothing that could be a
// leak, has the lower bound.
func (e *Evidence) PoolableLogOdds() float64 {
	if e == nil || math.IsNaN(e.LogOdds) {
		return poolLeast
	}
	return min(max(e.LogOdds, poolLeast), poolMost)
}
