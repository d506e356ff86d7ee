package evaluation

import (
	"math"
	"slices"

	"heapdrift/internal/analysis/score"
)

// bands are the models for snapshots: from so many on, fitted on cases of these numbers.
var bands = []struct {
	from int
	on   []int
}{{3, []int{3}}, {4, []int{4}}, {5, []int{5}}, {6, []int{6}}, {7, []int{7, 8}},
	{10, []int{10, 12}}, {15, []int{16, 20}}}

// FittedSnapshots returns the numbers of snapshots for which a model each is fitted, ascending.
func FittedSnapshots() (list []int) {
	for _, b := range bands {
		list = append(list, b.on...)
	}
	return list
}

// FittedRuns is how many runs of each process the Poolings are fitted on.
const FittedRuns = 4

// PooledSnapshots are the numbers of snapshots of a run that the Poolings are fitted on.
var PooledSnapshots = []int{6, 8, 12}

// FitPools fits the Poolings to the result of Run for PooledSnapshots and traces, with FittedRuns runs.
func FitPools(all []Cases) (list []Pooling) {
	for _, kind := range []score.Kind{score.KindFollowed, score.KindTraced} {
		for runs := 2; runs <= FittedRuns; runs++ {
			list = append(list, FitPool(kind, runs, all...))
		}
	}
	return list
}

// FitAll fits all models to the result of Run for FittedSnapshots and traces.
func FitAll(all []Cases) (models []Model) {
	for _, kind := range []score.Kind{score.KindFollowed, score.KindCounted} {
		for _, b := range bands {
			var groups []Cases
			for _, c := range all {
				if slices.Contains(b.on, c.Snapshots) {
					groups = append(groups, c)
				}
			}
			m := Fit(kind, b.from, groups...)
			if b.from < score.ManySnapshots {
				m.Certain = math.Inf(1)
			}
			if n := len(models); n > 0 && models[n-1].Kind == kind { // more snapshots do not raise the bar
				m.Leak, m.Certain = min(m.Leak, models[n-1].Leak), min(m.Certain, models[n-1].Certain)
			}
			models = append(models, m)
		}
	}
	var traces []Cases
	for _, c := range all {
		if c.Snapshots == 0 {
			traces = append(traces, c)
		}
	}
	return append(models, Fit(score.KindTraced, 0, traces...))
}
