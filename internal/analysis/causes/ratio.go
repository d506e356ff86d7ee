package causes

import (
	"cmp"
	"math"
)

const (
	// mostOfLeast is how many blocks of the rarer leak one object may have, mostBlocks how many of the other one come with
	// each of those: of larger numbers some ratio always fits.
	mostOfLeast = 4
	mostBlocks  = 256
	// mostOff is by how much two totals may miss their ratio, and objectsInFlight by how many objects whatever their
	// number: objects are half made, or half freed, when the evidence begins and ends.
	mostOff         = 0.01
	objectsInFlight = 2
	// mostNoise is which part of the blocks may come in another interval than the other parts of their object.
	mostNoise = 0.2
	// mostByChance is how probable it may be that any two leaks of a run come so close to a ratio where all are
	// independent and share nothing but the load.
	mostByChance = 0.01
	// leastBurstiness is the variance of the pace of a leak, in units of the load and relative to its mean, from which it
	// comes in bursts: its pace swings by half of itself.
	leastBurstiness = 0.25
	// mostApart is how much two leaks may deviate from each other, as a part of how much both deviate from a clock.
	mostApart = 0.25
)

// A shape is what leaks are told apart by before they are compared interval by interval.
type shape struct {
	total     int64
	intervals int // in which something came
	// place is a weighted mean of when blocks came: the same for leaks in a fixed ratio.
	place float64
}

func shapeOf(came []int64) (s shape) {
	weight := 0.5
	for _, n := range came {
		weight = math.Mod(weight+math.Phi, 1) // uneven, so that no two intervals are exchanged unseen
		if n > 0 {
			s.total += n
			s.intervals++
			s.place += weight * float64(n)
		}
	}
	s.place /= float64(max(1, s.total))
	return s
}

func (s *shape) compare(o *shape, order int) int {
	return cmp.Or(cmp.Compare(s.place, o.place), order)
}

// burstiness is the variance of a leak's pace beyond what chance makes of objects with so many blocks each; load is how
// much work was done in each interval, nil for as much in all.
func (s *shape) burstiness(came []int64, load []float64, blocks int) float64 {
	sum, all := 0.0, float64(s.total)
	for i, n := range came {
		share := 1 / float64(len(came))
		if len(load) == len(came) {
			share = load[i]
		}
		if share > 0 {
			pace := float64(n)/all/share - 1
			sum += share * pace * pace
		}
	}
	return sum - float64(len(came)-1)*float64(blocks)/all
}

// ratioOf is the ratio p : q of two leaks in whole numbers without a common divisor, as their totals have it.
func ratioOf(a, b *shape) (p, q int, ok bool) {
	if a.total > b.total {
		q, p, ok = ratioOf(b, a)
		return p, q, ok
	}
	x, y := float64(a.total), float64(b.total)
	for p = 1; p <= mostOfLeast; p++ {
		q = round(float64(p) * y / x)
		if q > mostBlocks*p {
			return 0, 0, false
		}
		if p > 1 && divisor(p, q) > 1 { // it is among those before
			continue
		}
		off := math.Abs(float64(p)*y - float64(q)*x)
		if off <= max(mostOff*float64(q)*x, objectsInFlight*float64(p*q)) && x >= leastObjects*float64(p) {
			return p, q, true
		}
	}
	return 0, 0, false
}

func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func round(x float64) int { return int(math.Round(x)) }

func relative(a, b float64) float64 { return math.Abs(a-b) / max(a, b) }

// isClose reports whether next to all blocks come in the intervals in which the ratio has them.
func isClose(a, b []int64, p, q int) bool {
	off, all := 0.0, 0.0
	for i := range a {
		x, y := float64(q)*float64(a[i]), float64(p)*float64(b[i])
		off, all = off+math.Abs(x-y), all+max(x, y)
	}
	return off <= mostNoise*all
}

// isShared reports whether two leaks in the ratio p : q deviate from a clock in the same way; nil is a clock by which
// all intervals are of one length. Deviations that the clock may make itself, because it is coarse, are none.
func isShared(a, b []int64, p, q int, clock []float64, coarse float64) bool {
	objectsA, objectsB := 0.0, 0.0
	for i := range a {
		objectsA, objectsB = objectsA+float64(a[i])/float64(p), objectsB+float64(b[i])/float64(q)
	}
	apart, from := 0.0, 0.0
	for i := range a {
		share := 1 / float64(len(a))
		if len(clock) == len(a) {
			share = clock[i]
		}
		x, y := float64(a[i])/float64(p), float64(b[i])/float64(q)
		dx := max(0, math.Abs(x-objectsA*share)-objectsA*coarse)
		dy := max(0, math.Abs(y-objectsB*share)-objectsB*coarse)
		apart, from = apart+(x-y)*(x-y), from+dx*dx+dy*dy
	}
	return apart <= mostApart*from
}

// limitOf is the logarithm of the chance that any two leaks of one bucket may have, so that hardly any do by chance.
func limitOf(buckets [][]int) float64 {
	pairs := 0.0
	for _, b := range buckets {
		pairs += float64(len(b)) * float64(len(b)-1) / 2
	}
	return math.Log(mostByChance / max(1, pairs))
}

// mostDeviation is the mean square of deviations, in units of chance, above which they say nothing of a ratio.
const mostDeviation = 0.5

// logChance bounds the probability, as a logarithm, that two independent leaks come as close to the ratio p : q in all
// intervals as these. Whatever the load is, of the blocks that came in an interval a binomial part is of the first leak
// where both come at random; parts of one object are divided more evenly. The bound is that of Chernoff for the sum of
// squared deviations. The interval with most blocks is left out: the ratio was chosen by them.
func logChance(a, b []int64, p, q int) float64 {
	share := float64(p) / float64(p+q)
	most := 0
	for i := range a {
		if a[i]+b[i] > a[most]+b[most] {
			most = i
		}
	}
	deviation, n := 0.0, 0
	for i := range a {
		if m := float64(a[i] + b[i]); m > 0 && i != most {
			d := float64(a[i]) - m*share
			deviation += d * d / (m * share * (1 - share))
			n++
		}
	}
	if deviation > mostDeviation*float64(n) {
		return 0
	}
	best := 0.0
	for theta := 0.5; theta < 1<<12; theta *= 2 {
		sum := theta * deviation
		for i := range a {
			if m := float64(a[i] + b[i]); m > 0 && i != most {
				sum += logMoment(m, share, theta)
			}
		}
		if sum > best+1 && best < 0 { // it only rises from here
			break
		}
		best = min(best, sum)
	}
	return best
}

// fewBlocks is the variance of a binomial part below which it is summed exactly.
const fewBlocks = 9

// logMoment is ln E exp(−theta·d²/v) of the deviation d of a binomial part from its mean, v its variance.
func logMoment(m, share, theta float64) float64 {
	mean, v := m*share, m*share*(1-share)
	width := v / (theta + 0.5)
	if v >= fewBlocks && width > 4 {
		return -0.5 * math.Log1p(2*theta)
	}
	reach := 7*math.Sqrt(min(v, width)) + 1
	from := max(0, math.Ceil(mean-reach))
	chance, odds := math.Exp(logBinomial(m, from)+from*math.Log(share)+(m-from)*math.Log1p(-share)), share/(1-share)
	sum := 0.0
	for k := from; k <= min(m, mean+reach); k++ {
		d := k - mean
		sum += chance * math.Exp(-theta*d*d/v)
		chance *= (m - k) / (k + 1) * odds
	}
	return min(0, math.Log(max(sum, math.SmallestNonzeroFloat64)))
}

// logBinomial is the logarithm of how many ways there are to choose k of m.
func logBinomial(m, k float64) float64 {
	all, _ := math.Lgamma(m + 1)
	of, _ := math.Lgamma(k + 1)
	rest, _ := math.Lgamma(m - k + 1)
	return all - of - rest
}
