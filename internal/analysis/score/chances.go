package score

import "math"

// A bar that so many wrong sites of generated processes pass would be passed by more in a larger process: the processes
// that bars are fitted on have 36 sites.
const (
	fittedSites = 36
	// oddsPerLogOdds is how fast the logarithm of the odds among generated sites rises with the log odds of the model,
	// above the bar.
	oddsPerLogOdds = 1.6
	// mostRaised is by how much a bar is raised at most: next to no site that is no leak is above that, and hardly a leak.
	mostRaised = 1.5
)

// CertainAmong reports whether a leak is certain in a run in which so many sites could look like one by chance.
func (e *Evidence) CertainAmong(sites int) bool {
	m := modelOf(e.Kind, e.Snapshots)
	return m != nil && e.LogOdds >= m.certain+raised(sites)
}

// raised is by how many log odds more sites raise the bar.
func raised(sites int) float64 {
	if sites <= fittedSites {
		return 0
	}
	return min(mostRaised, math.Log(float64(sites)/fittedSites)/oddsPerLogOdds)
}
