package score

import "math"

// A RunRetention is how much one run kept at a site, for runs to be compared.
type RunRetention struct {
	LogOdds float64 // as Evidence.LogOdds; NaN where the run shows nothing that could be a leak
	Stayed  StayedBlocks
	Held    int64 // most blocks that the site held at once
	PartLengths
}

// An Onset says whether a site began to leak between two runs: how much more stays than in any run before, and how much
// it looks like a leak since.
type Onset struct {
	Before int     `json:"before"` // how many runs before, which did not leak
	Since  int     `json:"since"`  // how many runs since
	Factor float64 `json:"times"`  // blocks that stay, as a multiple of those in the run before in which most stayed
	// Probability is how likely it is, from 0 to 1, that the site began to leak.
	Probability float64 `json:"probability"`
	Certain     bool    `json:"certain"`  // it began surely enough to fail a gate
	Doubtful    bool    `json:"doubtful"` // it may have begun, and one more run would decide
	// Rises says that the growth is more than the runs before explain: growth that does not rise began before them.
	Rises bool `json:"rises"`
}

// The thresholds by the number of runs before (index 0 is of one run). Of generated sites that do not leak, judged in
// one run after others, no more than 1 in 20,000 reach them; docs/method.md has the figures. Fewer runs before say less
// of what the place does.
var onsetThresholds = [...]float64{6, 4.5, 4, 3.6}

// onsetLeast are the mean log odds that one run since, two, and more must have: new code that keeps memory and does not
// leak appears from one build to the next as a leak does, and only its shape tells.
var onsetLeast = [...]float64{-1.5, -2, -2.5}

const (
	// onsetShare is the share of such places at a threshold, and onsetSlope by how much the threshold rises where the
	// share is to fall to 1/e.
	onsetShare = 5e-5
	onsetSlope = 0.5
	// onsetAgain is how much less several runs since have to show: noise does not come twice.
	onsetAgain = 0.5
	// certainShare and doubtfulShare are the shares of runs without a new leak in which one is certain, or doubtful: a run
	// of ten times as many places has ten times as many chances.
	certainShare  = 0.005
	doubtfulShare = 0.02
	leastPlaces   = 20
	mostPlaces    = 5000
	// newLeaks is in which share of places a leak begins from one build to the next.
	newLeaks = 1e-3

	onsetWeight   = 1.5 // of the logarithm of Times
	mostOnsetOdds = 2   // of the log odds of a leak: beyond it they say little more
	leastOnset    = -4  // of a run that shows nothing that could be a leak
	mostTimes     = 4   // of the logarithm of Times
	// fewStay is added to what stayed in a run before: a few blocks more or less are chance.
	fewStay = 3
)

// muchLonger is how many times as long a run before must have been for what it held to count like what stayed.
const muchLonger = 2

// The growth by which what is a leak anyway rises over the runs before.
const (
	risesTimes     = 1.5
	risesEvenly    = 3 // of the stretch with the fewest blocks, where the whole rises by risesSlightly
	risesSlightly  = 1.2
	fewInStretches = 4
)

// OnsetOf compares the runs since a site may have begun to leak with those before, all of one unit. places is how many
// sites of the run keep memory, each of which may seem to begin by chance. It is nil where before is empty.
func OnsetOf(since, before []RunRetention, places int) *Onset {
	if len(since) == 0 || len(before) == 0 {
		return nil
	}
	o := &Onset{Before: len(before), Since: len(since)}
	o.Factor = rises(since, before, StayedBlocks.sum, fewStay)
	evenly := rises(since, before, StayedBlocks.evenly, fewInStretches)
	var odds float64
	for _, w := range since {
		z := w.LogOdds
		if math.IsNaN(z) {
			z = leastOnset
		}
		odds += min(z, mostOnsetOdds) / float64(len(since))
	}
	shown := odds + onsetWeight*min(math.Log(max(o.Factor, 0.01)), mostTimes)
	threshold := onsetThresholds[min(len(before), len(onsetThresholds))-1]
	if len(since) > 1 {
		threshold -= onsetAgain
	}
	share := onsetShare * math.Exp((threshold-shown)/onsetSlope) // of places without a leak that show as much
	many := float64(min(max(places, leastPlaces), mostPlaces))
	o.Probability = newLeaks / (newLeaks + share)
	least := onsetLeast[min(len(since), len(onsetLeast))-1]
	o.Certain, o.Doubtful = share*many <= certainShare && odds >= least, share*many <= doubtfulShare
	o.Rises = o.Factor >= risesTimes || o.Factor >= risesSlightly && evenly >= risesEvenly
	return o
}

// rises is how many times as much stays since as in the run before in which most did: for each run and for each unit of
// its axis, whichever is less. A longer run leaves more of a leak, and no more of what is bounded. A much shorter run
// may end while a cache still fills, or before a session does: of longer runs before counts what they held, too.
func rises(since, before []RunRetention, count func(StayedBlocks) float64, few float64) float64 {
	var stayed, over float64
	for _, w := range since {
		stayed += count(w.Stayed)
		over += w.Sum()
	}
	each := over / float64(len(since))
	var most, fastest float64
	for _, w := range before {
		n := count(w.Stayed)
		if w.Unit == since[0].Unit && each > 0 && w.Sum() >= muchLonger*each {
			n = max(n, float64(w.Held))
		}
		n += few
		most = max(most, n)
		if w.Unit == since[0].Unit && w.Sum() > 0 {
			fastest = max(fastest, n/w.Sum())
		}
	}
	times := stayed / float64(len(since)) / most
	if fastest > 0 && over > 0 {
		times = min(times, stayed/over/fastest)
	}
	return times
}

// IsAlike reports whether two runs keep about as much at a site: per run or per unit of the axis, in all and in the
// part of the run with the fewest.
func (w *RunRetention) IsAlike(other *RunRetention) bool {
	longer := 1.0
	if w.Unit == other.Unit && w.Sum() > 0 && other.Sum() > 0 {
		longer = w.Sum() / other.Sum()
	}
	return isAlike(w.Stayed.sum(), other.Stayed.sum(), fewStay, alikeTimes, longer) &&
		isAlike(w.Stayed.evenly(), other.Stayed.evenly(), fewInStretches, alikeEvenly, longer)
}

// By how much runs of one place differ at most: in all, and in the stretch with the fewest, where chance is greater.
const (
	alikeTimes  = 3
	alikeEvenly = 4
)

func isAlike(a, b, few, times, longer float64) bool {
	near := func(a, b float64) bool { return a <= times*b && b <= times*a }
	return near(a+few, b+few) || near(a/longer+few, b+few)
}

// sum is Total as a number of the comparison.
func (k StayedBlocks) sum() float64 { return float64(k.Total()) }

// evenly is how many would have stayed if every stretch were like the one with the fewest.
func (k StayedBlocks) evenly() float64 {
	least := k[0]
	for _, s := range k {
		least = min(least, s)
	}
	return RunParts * float64(least)
}

// Plus adds another run of the site, of the same unit.
func (w RunRetention) Plus(other *RunRetention) RunRetention {
	w.Stayed = w.Stayed.Plus(other.Stayed)
	for i := range w.Over {
		w.Over[i] += other.Over[i]
	}
	return w
}

// SteadyPerUnit is how many blocks per unit of the axis stayed in the part of the run with the fewest. A steady leak
// leaves no less; blocks in use or in a filling cache add to other parts.
func (w *RunRetention) SteadyPerUnit() float64 {
	least := math.Inf(1)
	for i, n := range w.Stayed {
		if w.Over[i] > 0 {
			least = min(least, float64(n)/w.Over[i])
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// A Bound is the fastest that a site may leak.
type Bound struct {
	Unit  string  `json:"unit"`
	Count float64 `json:"count"` // blocks per Unit
}

// The quantiles of the normal distribution by which a Bound is outside with 5 % for the run as a whole, and with as
// much for its stretches together.
const (
	outsideWhole     = 1.644854
	outsideStretches = 2.241403
)

// Bound is the rate of the fastest steady leak that may have stayed hidden in the run: a faster one would have left
// more blocks with 90 % probability. It is computed from the part of the run in which the fewest stayed. dispersion is
// how many blocks come at once, 1 for single blocks. The rate is 0 where the run has no length.
func (w *RunRetention) Bound(dispersion float64) Bound {
	b := Bound{Unit: w.Unit}
	dispersion = max(1, dispersion)
	least := math.Inf(1)
	take := func(n, over, z float64) {
		if over > 0 {
			least = min(least, dispersion*poissonUpper(n/dispersion, z)/over)
		}
	}
	for i, n := range w.Stayed {
		take(float64(n), w.Over[i], outsideStretches)
	}
	take(w.Stayed.sum(), w.Sum(), outsideWhole)
	if !math.IsInf(least, 1) {
		b.Count = least
	}
	return b
}

// poissonUpper is the upper bound of the mean of a Poisson count by Byar's approximation, which is within 1 % of the
// exact one.
func poissonUpper(n, z float64) float64 {
	v := 1 - 1/(9*(n+1)) + z/(3*math.Sqrt(n+1))
	return (n + 1) * v * v * v
}
