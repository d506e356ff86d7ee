package score

import "math"

// How the bar of a certain leak rises in a run with more sites than the processes that it is fitted on: each innocent
// site is one more chance to pass it.
const (
	fittedSites = 36 // of a process that bars are fitted on
	// oddsPerLogOdds is by how much the logarithm of the true odds rises, above the bar, for each log odds of the model.
	oddsPerLogOdds = 1.6
	// mostRaised is by how much the bar rises at most: above that, hardly any site is left, leak or not.
	mostRaised = 1.5
)

// CertainAmong reports whether the evidence makes a leak certain in a run with so many sites: the more sites, the more
// of them look like a leak by chance.
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
