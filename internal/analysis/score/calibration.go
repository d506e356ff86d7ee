package score

import "math"

// A knot is a point of a calibration: of cases for which the model had these log odds, so many leaked.
type knot struct{ logOdds, leaked float64 }

// A calibration maps what a model says to the share of such cases that leaked, along straight lines between knots,
// which rise.
type calibration []knot

// of is the share for log odds.
func (c calibration) of(z float64) float64 {
	if len(c) == 0 || math.IsInf(z, -1) || math.IsNaN(z) {
		return 0
	}
	if z <= c[0].logOdds {
		return c[0].leaked
	}
	for i := 1; i < len(c); i++ {
		if from, to := c[i-1], c[i]; z < to.logOdds {
			return from.leaked + (to.leaked-from.leaked)*(z-from.logOdds)/(to.logOdds-from.logOdds)
		}
	}
	return c[len(c)-1].leaked
}
