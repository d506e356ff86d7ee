package score

import (
	"math"
	"slices"
)

const (
	// SnapshotsToJudge is how many snapshots it takes before anything may be called a leak.
	SnapshotsToJudge = 5
	// leastBlocks is how many blocks must have stayed before anything may be called a leak.
	leastBlocks = 3
	// growingFrom is the probability of a rise from which growth that is only recent is more than coming and going.
	growingFrom = 0.9
	// likely is the score from which what does not grow is looked at all the same: it leaks beside much that comes and
	// goes.
	likely = 0.5
	// staysShare is the share of the growth that blocks which stay must make up for it to be more than coming and
	// going.
	staysShare = 0.4
	// turnover is how many deaths of old blocks, for each and in the time that was watched, make a cache that replaces
	// what it holds.
	turnover = 1.5
)

// A snapshotView is all that is known of one series: what the score and the clauses are made of.
type snapshotView struct {
	points
	each       float64   // blocks that a counted one stands for
	sampled    bool      // the counts are those of a sample
	span       float64   // of the axis, in its unit
	at         []float64 // when the snapshots were taken, from 0 to 1
	hours      float64   // that they cover; 0 where clocks do not tell
	line       line
	rising     float64 // probability
	reading            // of the rises
	dispersion float64 // of the rises
	steps      int     // how often it rose
	grown      float64 // blocks, from the first snapshot to the last
	rose, fell float64 // blocks, of all rises and of all falls
	intervals
	resizing   *resizing // nil of what is not resized
	followed   bool
	cohorts    cohorts
	model      *model
	conditions []float64 // nil of what is excluded
	logOdds    float64
}

// JudgeSnapshots judges one signature over snapshots; workShares are the shares of the work done between each two of
// them, nil where unknown. It makes no texts: a run has tens of thousands of signatures and shows few. ExplainSnapshots
// gives the same result with Clauses.
func JudgeSnapshots(s *Series, a *Axis, workShares []float64) Result {
	v, ok := viewSnapshots(s, a, workShares)
	if !ok {
		return Result{Class: ClassUnknown}
	}
	return v.result(a.Unit)
}

// ExplainSnapshots is JudgeSnapshots with Clauses: one for each condition, and one for each other fact that the
// judgement rests on.
func ExplainSnapshots(s *Series, a *Axis, workShares []float64) Result {
	v, ok := viewSnapshots(s, a, workShares)
	if !ok {
		return Result{Class: ClassUnknown,
			Clauses: []Clause{{Rule: "axis",
				Text: "The times of the snapshots do not ascend, so growth cannot be judged."}}}
	}
	r := v.result(a.Unit)
	if r.Class == ClassGrowingBlock {
		r.Clauses = []Clause{v.resizing.clause()}
		return r
	}
	r.Clauses = v.clauses(&r)
	return r
}

func viewSnapshots(s *Series, a *Axis, load []float64) (v snapshotView, ok bool) {
	if v.points, v.span, ok = clean(s, a); !ok || v.n < 2 {
		return v, ok
	}
	if v.each, v.sampled = 1, s.Weight > 0; v.sampled {
		v.each = s.Weight
	}
	x, c := v.x[:v.n], v.c[:v.n]
	v.line = fitLine(x, c)
	v.rising = v.line.rising(v.n)
	v.grown = c[v.n-1] - c[0]
	if v.at = slices.Clone(x); len(a.Hours) == v.n && a.Hours[v.n-1] > a.Hours[0] {
		v.at, v.hours = shares(a.Hours), a.Hours[v.n-1]-a.Hours[0]
	}
	for i := range v.n - 1 {
		v.rose += max(0, c[i+1]-c[i])
		v.fell += max(0, c[i]-c[i+1])
		if c[i+1] > c[i] {
			v.steps++
		}
	}
	v.logOdds, v.resizing = never, resizingOf(s)
	kind := KindCounted
	if v.followed = s.Followed && len(s.Count) == v.n && v.n >= 3; v.followed {
		kind = KindFollowed
		v.cohorts = cohortsOf(s.Spans, v.at)
	}
	v.model = modelOf(kind, v.n)
	candidate := v.isCandidate()
	if !candidate && v.grown <= 0 { // as most are
		return v, true
	}
	v.intervals = intervals{rises: make([]float64, v.n-1), load: load}
	for i := range v.rises {
		v.rises[i] = max(0, c[i+1]-c[i])
	}
	time := differences(v.at)
	if len(load) != len(time) {
		v.load = time
	}
	v.clocks = []clock{{inStepWithWork, v.load}, {atSteadyRate, time}}
	if v.hours > 0 && a.Unit != "hour" {
		v.clocks = append(v.clocks, clock{"in step with the " + a.Unit + "s", differences(x)})
	}
	v.reading = v.steady()
	if candidate {
		if v.followed {
			v.conditions = v.cohorts.conditions(v.odds, &v.intervals, v.at, v.model)
		} else {
			v.conditions = []float64{v.odds, goesOn(v.rises, v.load), -v.fell / v.rose}
		}
		if v.model != nil {
			v.logOdds = v.model.logOdds(v.conditions)
		}
	}
	groups := sumsOf(v.n-1, mostSums)
	v.dispersion = math.Inf(1)
	for _, c := range v.clocks { // what comes as steadily as one of them comes in no bursts
		v.dispersion = min(v.dispersion, dispersion(groups.of(v.rises), groups.of(c.shares)))
	}
	return v, true
}

// isCandidate reports whether the series may be a leak at all: blocks came and stayed, or where they are not followed
// their number grew.
func (v *snapshotView) isCandidate() bool {
	if v.followed {
		return v.cohorts.survivors() >= leastBlocks
	}
	return v.grown >= leastBlocks
}

func (v *snapshotView) result(unit string) Result {
	if v.n < 2 || v.span <= 0 {
		return Result{Class: ClassUnknown}
	}
	r := Result{Class: v.class(), Unscored: v.model == nil}
	if v.conditions != nil {
		r.Evidence = &Evidence{
			Kind: KindCounted, Snapshots: v.n, Conditions: v.conditions, LogOdds: max(v.logOdds, poolLeast),
		}
		if v.followed {
			r.Evidence.Kind = KindFollowed
		}
		if v.model != nil {
			v.model.judge(&r, v.logOdds, v.n >= SnapshotsToJudge)
			r.Certain = r.Certain && !v.shape.inFew(v.bursts())
		}
	}
	if v.resizing != nil && r.Class != ClassLeak {
		r.Class = ClassGrowingBlock
	}
	if v.grown > 0 || r.Class.IsSuspect() {
		r.Rate = v.rate(unit)
	}
	return r
}

// class says what the growth looks like, the score aside.
func (v *snapshotView) class() Class {
	switch {
	case v.grown <= 0 || v.rising < 0.5:
		if v.model != nil && v.model.calibration.of(v.logOdds) >= likely {
			return ClassGrowing
		}
		return ClassStable
	case v.followed && v.n > 3 && v.cohorts.survivors() < staysShare*v.grownBefore():
		return ClassTransient
	}
	if v.steps == 1 && v.n >= SnapshotsToJudge {
		return ClassOneTime // and nothing since or before
	}
	switch h := v.shape.likeliest(); {
	case h == filling && v.steps == 1: // all in one interval: whether it fell off in there nobody saw
		return ClassOneTime
	case h == filling:
		return ClassCache
	case h == inBursts:
		return ClassOneTime
	case h == recently && v.rising < growingFrom:
		return ClassTransient
	case v.followed && v.cohorts.deaths > turnover*max(1, v.cohorts.risk):
		return ClassTransient
	}
	return ClassGrowing
}

// grownBefore is the growth up to the last snapshot but one, whose blocks are seen twice where they stay.
func (v *snapshotView) grownBefore() float64 { return v.c[v.n-2] - v.c[0] }

// rate is the Theil–Sen slope per unit.
func (v *snapshotView) rate(unit string) *Rate {
	p := &v.points
	r := &Rate{Unit: unit, Unbounded: p.n < SnapshotsToJudge}
	per := func(slope float64) float64 {
		if q := slope / v.span; !math.IsInf(q, 0) {
			return q
		}
		return 0
	}
	count, countLow, countHigh := TheilSen(p.x[:p.n], p.c[:p.n])
	bytes, bytesLow, bytesHigh := TheilSen(p.x[:p.n], p.y[:p.n])
	r.Count, r.CountLow, r.CountHigh = per(count*v.each), per(countLow*v.each), per(countHigh*v.each)
	r.Bytes, r.BytesLow, r.BytesHigh = per(bytes), per(bytesLow), per(bytesHigh)
	r.Over, r.Dispersion = (p.x[p.n-1]-p.x[0])*v.span, max(1, v.dispersion)
	return r
}

// differences are the steps between values.
func differences(v []float64) []float64 {
	out := make([]float64, len(v)-1)
	for i := range out {
		out[i] = v[i+1] - v[i]
	}
	return out
}
