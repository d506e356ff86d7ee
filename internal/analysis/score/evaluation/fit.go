package evaluation

// A Knot is a point of a calibration: of cases for which the model said Model, Real leaked.
type Knot struct{ Model, Real float64 }

// cells are the bounds between which cases are pooled.
var cells = []float64{0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.96, 0.99, 1.01}

// leastCases is how many cases a knot must stand for: their share is known to a twentieth, then.
const leastCases = 100

// FitCalibration gives the knots of the rising map from the model's probability to the share of leaks: shares of cells, pooled
// until each has cases enough and none is below the one before it (isotonic regression). Caches that are not full yet and cases
// that the model excludes are left out.
func FitCalibration(groups ...Cases) []Knot {
	type cell struct{ cases, leaks, sum float64 }
	all := make([]cell, len(cells))
	for g := range groups {
		for i := range groups[g].List {
			k := &groups[g].List[i]
			if k.NotFull || k.Result.Model <= 0 {
				continue
			}
			at := 0
			for k.Result.Model >= cells[at] {
				at++
			}
			all[at].cases++
			all[at].sum += k.Result.Model
			if k.Leaks {
				all[at].leaks++
			}
		}
	}
	var pooled []cell
	for _, c := range all {
		pooled = append(pooled, c)
		for n := len(pooled); n > 1; n = len(pooled) {
			before, last := pooled[n-2], pooled[n-1]
			if before.cases >= leastCases && (last.cases == 0 || before.leaks*last.cases < last.leaks*before.cases) {
				break
			}
			pooled = append(pooled[:n-2], cell{before.cases + last.cases, before.leaks + last.leaks, before.sum + last.sum})
		}
	}
	if n := len(pooled); n > 1 && pooled[n-1].cases < leastCases {
		before, last := pooled[n-2], pooled[n-1]
		pooled = append(pooled[:n-2], cell{before.cases + last.cases, before.leaks + last.leaks, before.sum + last.sum})
	}
	var knots []Knot
	for _, c := range pooled {
		if c.cases > 0 { // half a case of each kind more: no number of cases makes certain
			knots = append(knots, Knot{c.sum / c.cases, (c.leaks + 0.5) / (c.cases + 1)})
		}
	}
	return knots
}
