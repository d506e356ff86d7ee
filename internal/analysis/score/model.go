package score

import "math"

// A penalty is what breaking one condition costs. Below each knot a value costs its weight for each scale that it lies
// below; above the highest knot it costs nothing.
type penalty struct {
	knots   [3]float64 // the 8 %, 25 % and 50 % quantiles of leaks
	scale   float64
	weights [3]float64
}

// mostBroken is how many scales below a knot count: a condition that is further from being met costs no more.
const mostBroken = 6

// Shortfall is how far a value lies below a knot, in scales; 0 if it does not. The weights of the model multiply it.
func Shortfall(value, knot, scale float64) float64 { return min(mostBroken, max(0, knot-value)/scale) }

func (p *penalty) of(value float64) float64 {
	cost := 0.0
	for i, knot := range p.knots {
		cost += p.weights[i] * Shortfall(value, knot, p.scale)
	}
	return cost
}

// A model judges one kind of evidence.
type model struct {
	kind          Kind
	from          int // snapshots: for so many and more, up to the next model of the kind
	intercept     float64
	penalties     []penalty // by condition of the kind
	calibration   calibration
	leak, certain float64 // log odds from which growth is called a leak, and from which that may fail a gate
}

// modelOf is the model for evidence of a kind; nil where there is none for so few snapshots.
func modelOf(kind Kind, snapshots int) (found *model) {
	for i := range models {
		if m := &models[i]; m.kind == kind && m.from <= snapshots {
			found = m
		}
	}
	return found
}

// logOdds is what the conditions say, as the logarithm of the odds that it leaks.
func (m *model) logOdds(conditions []float64) float64 {
	z := m.intercept
	for i, v := range conditions {
		z -= m.penalties[i].of(v)
	}
	return z
}

// SnapshotsToBeCertain is the least number of snapshots with which a leak may be certain.
var SnapshotsToBeCertain = leastCertain()

func leastCertain() int {
	least := math.MaxInt
	for i := range models {
		if m := &models[i]; m.kind == KindFollowed && m.certain < unreached {
			least = min(least, m.from)
		}
	}
	return least
}

// unreached is a threshold that no evidence reaches.
var unreached = math.Inf(1)

// never is the log odds of what is excluded.
var never = math.Inf(-1)

// judge completes a result with a score; enough says that the evidence may convict at all.
func (m *model) judge(r *Result, z float64, enough bool) {
	r.Score = m.calibration.of(z)
	if enough && z >= m.leak {
		r.Class, r.Certain = ClassLeak, z >= m.certain
	}
}
