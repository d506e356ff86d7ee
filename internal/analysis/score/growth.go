package score

import (
	"math"
	"slices"
)

// A line is a least-squares fit.
type line struct {
	slope    float64
	residual float64 // sum of squared distances
	spread   float64 // Σ(x−x̄)²
	mean     float64 // of the values
	fit      float64 // R², 0 where nothing varies
}

// fitLine fits values over coordinates.
func fitLine(x, v []float64) line {
	n := float64(len(x))
	if n == 0 {
		return line{}
	}
	var meanX, meanV float64
	for i := range x {
		meanX += x[i] / n
		meanV += v[i] / n
	}
	var xx, xv, vv float64
	for i := range x {
		dx, dv := x[i]-meanX, v[i]-meanV
		xx += dx * dx
		xv += dx * dv
		vv += dv * dv
	}
	l := line{spread: xx, mean: meanV, residual: vv}
	if xx > 0 {
		l.slope = xv / xx
		l.residual = max(0, vv-xv*l.slope)
	}
	if vv > 0 {
		l.fit = 1 - l.residual/vv
	}
	return l
}

// rising is the probability that the counts rise: Student's t of the slope over its error, which includes one block, or
// two percent, of noise that an exact fit does not show.
func (l line) rising(n int) float64 {
	if n < 2 || l.spread <= 0 {
		return 0.5
	}
	degrees := float64(n - 1)
	deviation := math.Sqrt((l.residual + max(1, 0.02*l.mean)) / (degrees * l.spread))
	return studentCDF(l.slope/deviation, degrees)
}

// TheilSen is the median of the slopes between all pairs of points, which one outlier does not move. low and high bound
// its confidence interval of 95 %, from the distribution of Kendall's S in its normal approximation (Hollander & Wolfe,
// ch. 9). With fewer than five points no such interval exists: they are the least and the greatest slope.
func TheilSen(x, v []float64) (slope, low, high float64) {
	var room [mostPoints * (mostPoints - 1) / 2]float64
	slopes := room[:0]
	for i := range x {
		for j := range i {
			if x[i] > x[j] {
				slopes = append(slopes, (v[i]-v[j])/(x[i]-x[j]))
			}
		}
	}
	if len(slopes) == 0 {
		return 0, 0, 0
	}
	slices.Sort(slopes)
	pairs, n := len(slopes), float64(len(x))
	slope = slopes[pairs/2]
	if pairs%2 == 0 {
		slope = slopes[pairs/2-1]/2 + slopes[pairs/2]/2
	}
	width := 1.959964 * math.Sqrt(n*(n-1)*(2*n+5)/18)
	from := int((float64(pairs) - width) / 2)
	if len(x) < SnapshotsToJudge || from < 0 {
		from = 0
	}
	return slope, slopes[from], slopes[pairs-1-from]
}

// CountNoise is the standard deviation, in blocks, of the counts from a straight line through them. SnapshotPower needs
// it.
func CountNoise(s *Series, a *Axis) float64 {
	p, _, ok := clean(s, a)
	if !ok || p.n < 3 {
		return 0
	}
	return math.Sqrt(fitLine(p.x[:p.n], p.c[:p.n]).residual / float64(p.n-2))
}
