package score

import "heapdrift/ingest/capture"

// cohorts say of the blocks of a series when they came and how old they got. Times and ages are shares of the time that
// the snapshots cover.
type cohorts struct {
	n      int                                         // snapshots
	came   [mostPoints]float64                         // blocks by the snapshot in which they were first seen; those of the first were there before
	stayed [mostPoints]float64                         // of them, those in every later one
	oldest float64                                     // age of the oldest block that came and stayed
	died   float64                                     // the greatest age at which a block was freed
	deaths float64                                     // of blocks older than a quarter of the time
	risk   float64                                     // blocks × time for which such blocks could have been freed
	freed  float64                                     // blocks that were freed, whatever their age
	ages   [ageSteps + 1]struct{ freed, left float64 } // blocks by the age that they got, in steps of the time
}

// ageSteps is in how many steps of the time ages are told apart.
const ageSteps = 64

// fewFreed is how many blocks may be freed at an age or above it, for each that is there at the end and as old, for
// that age to be beyond the lives of blocks that are freed: single frees do not make a cache.
const fewFreed = 0.02

// ManySnapshots is how many snapshots it takes to tell at which ages few blocks are freed, and which intervals left no
// blocks. With fewer, no leak is certain.
const ManySnapshots = 10

// ended is the age beyond which next to none is freed, as a share of the time, and how many were freed beyond it. Of
// few snapshots it is the greatest age at which a block was freed.
func (c *cohorts) ended() (age, beyond float64) {
	if c.n < ManySnapshots {
		return c.died, 0
	}
	left := 0.0
	for k := ageSteps; k >= 0; k-- {
		left += c.ages[k].left
		if beyond+c.ages[k].freed > fewFreed*left {
			return (float64(k) + 0.5) / ageSteps, beyond
		}
		beyond += c.ages[k].freed
	}
	return 0, beyond
}

// ageStep is the step of an age, which is a share of the time.
func ageStep(age float64) int { return int(min(max(age, 0), 1) * ageSteps) }

// oldAge is from when on a block counts as old, as a share of the time.
const oldAge = 0.25

// cohortsOf adds spans up; at is when the snapshots were taken, from 0 to 1.
func cohortsOf(spans []capture.Span, at []float64) (c cohorts) {
	c.n = min(len(at), mostPoints)
	last := c.n - 1
	for _, s := range spans {
		f, l := int(s.First), int(s.Last)
		if l > last || f > l || f < 0 {
			continue
		}
		count := float64(s.Count)
		c.came[f] += count
		if l == last {
			c.stayed[f] += count
			if f > 0 {
				c.oldest = max(c.oldest, at[last]-at[f])
				c.ages[ageStep(at[last]-at[f])].left += count
			}
		} else {
			c.freed += count
			c.died = max(c.died, at[l]-at[f])
			c.ages[ageStep(at[l]-at[f])].freed += count
		}
		for k := f; k <= l && k < last; k++ { // from one snapshot to the next
			if at[k]-at[f] < oldAge {
				continue
			}
			step := at[k+1] - at[k]
			if k == l {
				c.deaths += count
				step /= 2
			}
			c.risk += count * step
		}
	}
	return c
}
