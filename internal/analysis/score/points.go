package score

import "math"

// mostPoints bounds what is fitted, and over how many snapshots blocks are followed; more snapshots are averaged in
// equal groups, which loses nothing to see.
const mostPoints = 64

// points are snapshots as numbers: the coordinate from 0 to 1, how many blocks and how many bytes.
type points struct {
	x, c, y [mostPoints]float64
	n       int
}

// clean makes points of a series, and gives the span of the axis in its unit. It is false where the axis is none: not
// finite, or not ascending.
func clean(s *Series, a *Axis) (p points, span float64, ok bool) {
	n := min(len(s.Count), len(s.Bytes), len(a.At))
	at := a.At[:n]
	last := math.Inf(-1)
	for _, x := range at {
		if math.IsNaN(x) || math.IsInf(x, 0) || x <= last {
			return p, 0, false
		}
		last = x
	}
	if n == 0 {
		return p, 0, true
	}
	if span = at[n-1] - at[0]; math.IsInf(span, 0) {
		return p, 0, false
	}
	p.take(at, s.Count, s.Bytes, span)
	return p, span, true
}

// take averages snapshots in groups of nearly equal number where there are more than there is room for.
func (p *points) take(at []float64, counts, bytes []int64, span float64) {
	n := len(at)
	p.n = min(n, mostPoints)
	for g := range p.n {
		from, to := g*n/p.n, (g+1)*n/p.n
		k := float64(to - from)
		for i := from; i < to; i++ {
			if span > 0 {
				p.x[g] += (at[i] - at[0]) / span / k
			}
			p.c[g] += float64(counts[i]) / k
			p.y[g] += float64(bytes[i]) / k
		}
	}
}

// shares are when snapshots were taken, from 0 to 1.
func shares(hours []float64) []float64 {
	out := make([]float64, len(hours))
	for i, h := range hours {
		out[i] = (h - hours[0]) / (hours[len(hours)-1] - hours[0])
	}
	return out
}
