package score

import (
	"math"

	"heapdrift/ingest/capture/allocations"
)

// The judgement on traces.
const (
	// settleShare and settleLifetimes give the settle time: blocks younger than that are not judged, because most
	// blocks that are freed at all live that long. settleMost of the window is its limit.
	settleShare     = 0.02
	settleLifetimes = 1.5
	settleQuantile  = 0.99
	settleMost      = 0.5
	// traceBins is how many stretches of births are compared, and leastBins in how many of them something must have
	// stayed before anything may be called a leak.
	traceBins = 16
	leastBins = 4
	// olderWeight is how much a late free of an older block counts.
	olderWeight = 0.5
)

// A traceView is all that is known of one site over a window.
type traceView struct {
	window     float64 // ns
	born, left int64
	judged     int     // of the stretches of Survival, those whose blocks are all older than the settle time
	span       float64 // ns that they cover
	births     int64   // in them
	survivors  int64
	bytes      int64 // of the survivors
	bins       int   // of traceBins, those with survivors
	last       int   // of traceBins, the last one with survivors
	reading          // of what stayed
	ages       ages
	lateFrees  int64
	dispersion float64 // of the survivors in stretches
	model      *model
	conditions []float64 // nil of what is excluded
	logOdds    float64
}

// JudgeTrace judges one site over a window of a trace; load is the share of the work done in each bin, nil where
// unknown. Like JudgeSnapshots it makes no texts; ExplainTrace does.
func JudgeTrace(v *allocations.Survival, load []float64) Result {
	t, ok := viewTrace(v, load)
	if !ok {
		return Result{Class: ClassUnknown}
	}
	return t.result()
}

// ExplainTrace is JudgeTrace with Clauses: one for each condition, and one for each other fact that the judgement rests
// on.
func ExplainTrace(v *allocations.Survival, load []float64) Result {
	t, ok := viewTrace(v, load)
	if !ok {
		return Result{Class: ClassUnknown, Clauses: []Clause{{Rule: "window", Text: "The window is empty."}}}
	}
	r := t.result()
	r.Clauses = t.clauses(&r)
	return r
}

const stretches = allocations.SurvivalBins

func viewTrace(v *allocations.Survival, load []float64) (t traceView, ok bool) {
	t.window = float64(v.Over) - float64(v.From)
	if t.window <= 0 {
		return t, false
	}
	stayed, even := make([]float64, stretches), make([]float64, stretches)
	for i := range v.Born {
		t.born += bounded(v.Born[i])
		t.left += bounded(v.Left[i])
		stayed[i], even[i] = float64(bounded(v.Left[i])), 1.0/stretches
	}
	if len(load) != stretches {
		load = even
	}
	t.lateFrees = bounded(v.LateUnknownFrees)
	settle := settleTime(&v.Ended, t.window)
	t.judged = max(0, min(stretches, int(stretches*(1-settle/t.window)+1e-9)))
	t.span = t.window * float64(t.judged) / stretches
	for i := range t.judged {
		t.births += bounded(v.Born[i])
		t.survivors += bounded(v.Left[i])
		t.bytes += bounded(v.LeftBytes[i])
	}
	groups := sumsOf(t.judged, traceBins)
	d, e := groups.of(stayed), groups.of(even)
	for i := range d {
		if d[i] > 0 {
			t.bins++
			t.last = i
		}
	}
	t.logOdds, t.model = never, modelOf(KindTraced, 0)
	if t.survivors < leastBlocks || t.bins < leastBins {
		return t, true
	}
	t.dispersion = dispersion(d, e)
	t.ages = agesOf(v)
	t.reading = read(stayed, groups, []clock{{inStepWithWork, load}, {atSteadyRate, even}})
	t.conditions = []float64{
		t.odds, t.ages.oldest - t.ages.died, -math.Log((t.ages.deaths + fewDeaths) / (t.ages.risk + fewDeaths)),
		goesOn(stayed[:t.judged], load[:t.judged]),
		-float64(t.lateFrees) * olderWeight / float64(t.left),
	}
	if t.model != nil {
		t.logOdds = t.model.logOdds(t.conditions)
	}
	return t, true
}

func (t *traceView) result() Result {
	r := Result{Class: t.class()}
	if t.conditions != nil {
		r.Evidence = &Evidence{Kind: KindTraced, Conditions: t.conditions, LogOdds: max(t.logOdds, poolLeast)}
		if t.model != nil {
			t.model.judge(&r, t.logOdds, true)
			r.Certain = r.Certain && !t.shape.inFew(t.bins)
		}
	}
	if t.survivors > 0 && t.span > 0 {
		r.Rate = t.rate()
	}
	return r
}

func (t *traceView) class() Class {
	switch {
	case t.left == 0 && t.born == 0:
		return ClassStable
	case t.left == 0 || t.survivors == 0:
		return ClassTransient
	case t.survivors < leastBlocks || t.bins <= 2:
		return ClassOneTime
	case t.bins < leastBins && t.last < traceBins/2: // and nothing since
		return ClassOneTime
	case t.bins < leastBins:
		return ClassGrowing
	case t.ages.deaths > turnover*max(1, t.ages.risk):
		return ClassTransient
	}
	switch t.shape.likeliest() {
	case filling:
		return ClassCache
	case inBursts:
		return ClassOneTime
	}
	return ClassGrowing
}

// bounded keeps counts from overflowing when they are added up, and what is below nothing out.
func bounded(n int64) int64 { return min(max(n, 0), 1<<54) }

// nanosecondsPerHour makes a trace's rates comparable with those of snapshots.
const nanosecondsPerHour = 3600e9

func (t *traceView) rate() *Rate {
	hours := t.span / nanosecondsPerHour
	low, high := poissonInterval(t.survivors)
	size := float64(t.bytes) / float64(t.survivors)
	r := &Rate{Unit: hourUnit, Span: t.window / nanosecondsPerHour, Count: float64(t.survivors) / hours,
		CountLow: low / hours, CountHigh: high / hours}
	r.Bytes, r.BytesLow, r.BytesHigh = r.Count*size, r.CountLow*size, r.CountHigh*size
	r.Over, r.Dispersion = hours, max(1, t.dispersion)
	return r
}

// settleTime is how old a block must be to be judged.
func settleTime(ended *[allocations.LifetimeBuckets]int64, window float64) float64 {
	var all int64
	for _, n := range ended {
		all += bounded(n)
	}
	settle := settleShare * window
	below := int64(math.Ceil(settleQuantile * float64(all)))
	var sum int64
	for b, n := range ended {
		if n <= 0 {
			continue
		}
		if sum += bounded(n); sum >= below { // where in the bucket, by rank
			within := min(1, float64(n-(sum-below))/float64(n))
			settle = max(settle, settleLifetimes*lifetime(float64(b)+within))
			break
		}
	}
	return min(settle, settleMost*window)
}

// lifetime is the lower bound of a bucket of lifetimes, in ns.
func lifetime(bucket float64) float64 { return math.Exp2(bucket / 2) }
