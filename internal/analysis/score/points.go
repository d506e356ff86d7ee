package score

import (
	"math"
	"slices"
)

// Hygiene of snapshots.
const (
	// maxPoints bounds what is fitted; more snapshots than that are averaged in equal groups, which loses nothing to see.
	maxPoints = 64
	// rulePoints is how many points the rule looks at: with more, noise makes ever more intervals fall.
	rulePoints = 8
	// warmUp is the share of the range at whose beginning a program still starts up.
	warmUp = 0.1
	// leastAfterWarmUp is how many snapshots are always kept: with fewer, the first says more about growth than about start-up.
	leastAfterWarmUp = 6
	// SnapshotsToJudge is how many snapshots it takes before anything may be called a leak.
	SnapshotsToJudge = 5
)

// points are snapshots as numbers: the coordinate from 0 to 1, how many blocks and how many bytes.
type points struct {
	x, c, y [maxPoints]float64
	n       int
}

// cleaned is a series after hygiene.
type cleaned struct {
	snapshots int     // how many there were at different coordinates
	warmUp    int     // how many of these were left out as warm-up
	span      float64 // of the axis, from the first that counts to the last, in its unit
	all       points  // those that count
	rule      points  // the same in at most rulePoints groups
	grown     float64 // blocks more in the last but one snapshot than in the first, warm-up included
}

// clean applies hygiene. It is false where the axis is none: not finite, or descending.
func clean(s *Series, a *Axis) (c cleaned, ok bool) {
	n := min(len(s.Count), len(s.Bytes), len(a.At))
	at, counts := a.At[:n], s.Count[:n]
	last := math.Inf(-1)
	for _, x := range at {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < last {
			return c, false
		}
		if x > last {
			c.snapshots++
		}
		last = x
	}
	if n == 0 || math.IsInf(at[n-1]-at[0], 0) {
		return c, n == 0
	}
	if n >= 3 {
		c.grown = float64(counts[n-2]) - float64(counts[0])
	}
	first := 0
	if c.snapshots > leastAfterWarmUp {
		end := at[0] + warmUp*(at[n-1]-at[0])
		for left := c.snapshots; left > leastAfterWarmUp && first < n-1 && at[first] < end; {
			if at[first+1] > at[first] {
				left--
				c.warmUp++
			}
			first++
		}
	}
	c.span = at[n-1] - at[first]
	c.all.take(at[first:n], counts[first:], s.Bytes[first:n], c.snapshots-c.warmUp, c.span)
	c.rule = c.all
	if c.all.n > rulePoints {
		c.rule.group(&c.all, rulePoints)
	}
	return c, true
}

// take takes n different coordinates; of several snapshots at one the last counts.
func (p *points) take(at []float64, counts, bytes []int64, n int, span float64) {
	groups := min(n, maxPoints)
	var members [maxPoints]float64
	seen := -1
	for i, x := range at {
		if i+1 < len(at) && at[i+1] == x {
			continue
		}
		seen++
		g := min(seen*groups/max(n, 1), groups-1)
		if span > 0 {
			p.x[g] += (x - at[0]) / span
		}
		p.c[g] += float64(counts[i])
		p.y[g] += float64(bytes[i])
		members[g]++
	}
	for g := range groups {
		k := max(members[g], 1)
		p.x[g], p.c[g], p.y[g] = p.x[g]/k, p.c[g]/k, p.y[g]/k
	}
	p.n = groups
}

// group takes one of each of n groups of nearly equal size: the middle one by time, with the median of the counts. A median
// keeps a burst that falls inside of a group one step, where a mean would make two small ones of it. Of an even number the
// first is left out.
func (p *points) group(all *points, n int) {
	*p = points{n: n}
	for g := range n {
		from, to := g*all.n/n, (g+1)*all.n/n
		if (to-from)%2 == 0 {
			from++
		}
		p.x[g], p.c[g], p.y[g] = all.x[(from+to)/2], middle(all.c[from:to]), middle(all.y[from:to])
	}
}

// middle is the median of an odd number of values.
func middle(v []float64) float64 {
	var room [maxPoints]float64
	sorted := room[:copy(room[:], v)]
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
