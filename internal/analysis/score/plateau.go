package score

import (
	"math"

	"heapdrift/ingest/capture/allocations"
)

// leastAtRisk is how many blocks must have been seen at an age before the survival curve is believed there: beyond it a
// single death moves the curve by more than a tenth.
const leastAtRisk = 10

// oldShare of the window is the age from which deaths count as those of old blocks.
const oldShare = 0.125

// A plateau is where a survival curve ends: the share of blocks that are never freed, with its interval of 95 %.
type plateau struct {
	forever   float64
	low, high float64
	age       float64 // ns, up to which it was followed
	hazard    float64 // deaths of old blocks for each block and window
}

// kaplanMeier estimates the share of never-freed blocks from lifetimes that ended and from ages of those that have not yet
// (Kaplan & Meier 1958), with Greenwood's variance on the log scale. A cache that replaces what it holds has none of these:
// whatever got old enough was evicted.
func kaplanMeier(v *allocations.Survival) plateau {
	const stretches = allocations.SurvivalBins
	stretch := (float64(v.Over) - float64(v.From)) / stretches
	var atRisk int64
	for i := range v.Left {
		atRisk += bounded(v.Left[i])
	}
	for _, n := range v.Ended {
		atRisk += bounded(n)
	}
	p := plateau{forever: 1, low: 1, high: 1}
	enough := min(int64(leastAtRisk), max(1, atRisk/2))
	variance := 0.0
	youngest := stretches - 1 // of those left, in the order of age
	old := oldShare * stretch * stretches
	var oldDeaths, oldTime float64
	for b, deaths := range v.Ended {
		if from := lifetime(float64(b) + 0.5); from >= old && deaths > 0 {
			oldDeaths += float64(deaths)
			oldTime += float64(deaths) * (from - old)
		}
	}
	for i := range v.Left {
		if age := (stretches - float64(i) - 0.5) * stretch; age > old {
			oldTime += float64(bounded(v.Left[i])) * (age - old)
		}
	}
	for b, deaths := range v.Ended {
		age := lifetime(float64(b + 1)) // deaths of a bucket come last in it: what may be younger proves nothing
		for youngest >= 0 && (stretches-float64(youngest)-0.5)*stretch < age {
			atRisk -= bounded(v.Left[youngest])
			youngest--
		}
		if atRisk < enough {
			break
		}
		if deaths <= 0 {
			continue
		}
		n, k := float64(atRisk), float64(min(deaths, atRisk))
		p.forever *= 1 - k/n
		p.age = age
		if n > k {
			variance += k / (n * (n - k))
		}
		atRisk -= min(deaths, atRisk)
	}
	if oldTime > 0 {
		p.hazard = oldDeaths / oldTime * stretch * stretches
	}
	width := math.Exp(1.959964 * math.Sqrt(variance))
	p.low, p.high = p.forever/width, min(1, p.forever*width)
	return p
}
