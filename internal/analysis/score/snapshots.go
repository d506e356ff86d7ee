package score

import "math"

// The rule that users see. Where a constant is one of the method's it is explained in docs/method.md.
const (
	ruleFit      = 0.85
	ruleTrailing = 0.4
	ruleRises    = 0.6
	ruleSurvival = 0.4
	// survivalExpected is the share of the growth that survivors must make up before the veto begins: blocks of a leak that
	// came between the last two snapshots, or before the second, are not among them.
	survivalExpected = 0.6
	// growingFrom is the probability of a rise from which growth that is only recent is more than coming and going.
	growingFrom = 0.9
	// leakScore is the score from which growth is called a leak.
	leakScore = 0.7
	// CertainScore is the score from which a leak may fail a gate.
	CertainScore = 0.9
)

// A snapshotView is all that is known of one series: what the score and the clauses are made of.
type snapshotView struct {
	cleaned
	line        line
	shape       shape
	rising      float64 // probability
	dips        float64 // 1: none, 0: as much fell as rose
	survival    float64 // the veto; 1 where addresses are not known
	survivors   int64
	rises       int
	dispersion  float64 // of the rises
	first, last float64 // slopes of the halves
	raw         float64 // product of the factors, before calibration
}

// Snapshots judges one signature over snapshots. It makes no texts: a run has tens of thousands of signatures and shows few.
// ExplainSnapshots gives the same result with Clauses.
func Snapshots(s *Series, a *Axis) Result {
	v, ok := viewSnapshots(s, a)
	if !ok {
		return Result{Class: Unknown}
	}
	return v.result(a.Unit)
}

// ExplainSnapshots is Snapshots with a Clause for each condition of the rule.
func ExplainSnapshots(s *Series, a *Axis) Result {
	v, ok := viewSnapshots(s, a)
	if !ok {
		return Result{Class: Unknown, Clauses: []Clause{{Rule: "axis", Text: "the snapshots' coordinates do not ascend, so nothing can be said about growth"}}}
	}
	r := v.result(a.Unit)
	r.Clauses = v.clauses(&r)
	return r
}

func viewSnapshots(s *Series, a *Axis) (v snapshotView, ok bool) {
	v.cleaned, ok = clean(s, a)
	if !ok || v.rule.n < 2 {
		return v, ok
	}
	p := &v.rule
	x, c := p.x[:p.n], p.c[:p.n]
	v.line = fitLine(x, c)
	v.rising = v.line.rising(p.n)
	var rose, fell float64
	var d, e [rulePoints]float64
	m := p.n - 1
	for i := range m {
		step := c[i+1] - c[i]
		e[i] = x[i+1] - x[i]
		if step > 0 {
			d[i] = step
			rose += step
			v.rises++
		} else {
			fell -= step
		}
	}
	if rose > fell && v.line.slope > 0 { // most stacks of a program do not grow, and a shape costs more than all the rest
		v.dips = max(0, 1-2*fell/rose)
		v.dispersion = dispersion(d[:m], e[:m])
		v.shape = judge(d[:m], e[:m])
	}
	half := p.n / 2
	v.first = fitLine(x[:p.n-half], c[:p.n-half]).slope
	v.last = fitLine(x[half:], c[half:]).slope
	v.survivors, v.survival = s.Survivors, 1
	if s.Survivors >= 0 && v.grown > 0 {
		v.survival = min(1, float64(s.Survivors)/(survivalExpected*v.grown))
	}
	v.raw = v.shape.leak * v.rising * v.dips * v.survival
	return v, true
}

func (v *snapshotView) result(unit string) Result {
	r := Result{Class: v.class(), Model: v.raw}
	if v.rule.n < 2 {
		return r
	}
	r.Score = calibrateSnapshots(v.raw, v.snapshots)
	r.Class = r.Class.decided(r.Score, v.snapshots >= SnapshotsToJudge)
	r.Certain = r.Class == Leak && r.Score >= CertainScore && v.ruleHolds()
	if v.all.n >= 2 && v.all.c[v.all.n-1] > v.all.c[0] && v.span > 0 {
		r.Rate = v.rate(unit)
	}
	return r
}

// class says what the growth looks like, the score aside.
func (v *snapshotView) class() Class {
	n := v.all.n
	switch {
	case v.snapshots < 2 || n < 2 || v.span <= 0:
		return Unknown
	case v.all.c[n-1] <= v.all.c[0] || v.rising < 0.5:
		return Stable
	case v.survival < ruleSurvival:
		return Transient
	}
	best, class := v.shape.leak, Leak
	if v.shape.fill > best {
		best, class = v.shape.fill, Cache
	}
	if v.shape.once > best {
		best, class = v.shape.once, OneTime
	}
	if v.shape.recent > best {
		class = Transient
		if v.rising >= growingFrom {
			class = Growing
		}
	}
	if class == Cache && v.rises == 1 {
		class = OneTime // all in one interval: whether it fell off in there nobody saw
	}
	return class
}

// ruleHolds is the rule that users see, all clauses of it.
func (v *snapshotView) ruleHolds() bool {
	return v.snapshots >= SnapshotsToJudge && v.line.slope > 0 && v.line.fit > ruleFit && v.last > ruleTrailing*max(0, v.first) &&
		float64(v.rises) >= ruleRises*float64(v.rule.n-1) && v.survivalHolds()
}

func (v *snapshotView) survivalHolds() bool {
	return v.survivors < 0 || v.grown <= 0 || float64(v.survivors) >= ruleSurvival*v.grown
}

// rate is the Theil–Sen slope per unit.
func (v *snapshotView) rate(unit string) *Rate {
	p := &v.all
	r := &Rate{Unit: unit}
	per := func(slope float64) float64 {
		if q := slope / v.span; !math.IsInf(q, 0) {
			return q
		}
		return 0
	}
	count, countLow, countHigh := theilSen(p.x[:p.n], p.c[:p.n])
	bytes, bytesLow, bytesHigh := theilSen(p.x[:p.n], p.y[:p.n])
	r.Count, r.CountLow, r.CountHigh = per(count), per(countLow), per(countHigh)
	r.Bytes, r.BytesLow, r.BytesHigh = per(bytes), per(bytesLow), per(bytesHigh)
	r.Over, r.Dispersion = (p.x[p.n-1]-p.x[0])*v.span, max(1, v.dispersion)
	return r
}
