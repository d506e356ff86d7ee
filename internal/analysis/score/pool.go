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
	Runs    int     `json:"runs"`
	LogOdds float64 `json:"log_odds"` // the mean of what the runs say, each within bounds
	Score   float64 `json:"score"`
	Leaks   bool    `json:"leaks"`
	Certain bool    `json:"certain"`
}

// JudgeTogether judges runs that did the same together. Each element is what one run says; nil of one that shows the
// signature and nothing that could be a leak. Of fewer than two runs it says nothing: their own judgement stands.
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

// PoolableLogOdds is what a run adds to a pool: its log odds, within bounds; nil is of one that shows nothing that
// could be a leak.
func (e *Evidence) PoolableLogOdds() float64 {
	if e == nil || math.IsNaN(e.LogOdds) {
		return poolLeast
	}
	return min(max(e.LogOdds, poolLeast), poolMost)
}
