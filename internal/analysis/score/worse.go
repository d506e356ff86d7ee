package score

import (
	"math"
	"slices"
)

// NoticeableFactor is how many times as high a rate must be before a build counts as worse: another compiler, machine
// or order of work makes smaller differences.
const NoticeableFactor = 1.25

// An Exposure is how much one signature grew in one run.
type Exposure struct {
	Count float64 // blocks: survivors of a trace, or the sum of the rises of a series
	Over  float64 // hours or work units; the same unit in both runs that are compared
	// Dispersion is the variance of Count over its mean, 1 for independent blocks, more where they come in bursts. Less
	// than 1 counts as 1.
	Dispersion float64
}

// ProbabilityOfFaster is the probability that head grows more than NoticeableFactor times as fast as base: 1 − p of the
// exact conditional test, in which head's share of all blocks is binomial (Przyborowski & Wilenski 1940). Counts are
// divided by the greater dispersion, because a burst is one event however many blocks it has. It is 0 where one of the
// two is unknown.
func ProbabilityOfFaster(base, head Exposure) float64 {
	for _, e := range []Exposure{base, head} {
		if !(e.Over > 0) || math.IsInf(e.Over, 0) || !(e.Count >= 0) || math.IsInf(e.Count, 0) {
			return 0
		}
	}
	dispersion := 1.0
	for _, e := range []Exposure{base, head} {
		if e.Dispersion > dispersion && !math.IsInf(e.Dispersion, 0) {
			dispersion = e.Dispersion
		}
	}
	k := head.Count / dispersion
	if k == 0 {
		return 0
	}
	share := 1 / (1 + base.Over/head.Over/NoticeableFactor)
	return 1 - betaRegularized(share, k, base.Count/dispersion+1)
}

// Discoveries says for each of many p-values whether to believe it, so that q is the average share of false ones among
// those believed (Benjamini & Hochberg 1995).
func Discoveries(p []float64, q float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	at := func(i int) float64 {
		if math.IsNaN(p[i]) {
			return math.Inf(1)
		}
		return p[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := at(a), at(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	found := make([]bool, len(p))
	last := -1
	for rank, i := range order {
		if at(i) <= q*float64(rank+1)/float64(len(p)) {
			last = rank
		}
	}
	for _, i := range order[:last+1] {
		found[i] = true
	}
	return found
}

// dispersion is how much more what came in stretches varies than independent blocks would: χ² of the counts against the
// exposures, over its degrees of freedom.
func dispersion(d, e []float64) float64 {
	var came, exposed float64
	n := 0
	for i := range d {
		if e[i] > 0 {
			came, exposed, n = came+d[i], exposed+e[i], n+1
		}
	}
	if n < 2 || !(came > 0) {
		return 1
	}
	var chi float64
	for i := range d {
		if expected := came * e[i] / exposed; expected > 0 {
			chi += (d[i] - expected) * (d[i] - expected) / expected
		}
	}
	if q := chi / float64(n-1); q > 1 && !math.IsInf(q, 0) {
		return q
	}
	return 1
}
