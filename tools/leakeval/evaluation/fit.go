package evaluation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"

	"heapdrift/internal/analysis/score"
)

// How a model is fitted.
const (
	folds = 12  // of behaviours: none is judged by what it was itself fitted on
	ridge = 3.0 // how much a weight costs
	steps = 500
	// leastCases is how many cases a knot of the calibration stands for: their share is known to a twentieth, then.
	leastCases = 100
)

// The precisions that thresholds are set for. Behaviours that nobody has seen yet cost some of it: see docs/method.md.
const (
	leakPrecision    = 0.96
	certainPrecision = 0.99
	// tracePrecision and surePrecision are for traces, whose precision falls most on behaviours that are new, and the
	// latter for several runs together too: a gate that fails for those is not asked again.
	tracePrecision = 0.972
	surePrecision  = 0.993
	// fewPrecision is for fewer than fewSnapshots, which reach leakPrecision for next to nothing.
	fewPrecision = 0.953
	fewSnapshots = 7
	// poolPrecision and tracePoolPrecision are for several runs together: what is odd about one process evens out, so
	// that behaviours that are new cost less.
	poolPrecision      = 0.962
	tracePoolPrecision = 0.98
	// leastFlagged is how many cases a threshold must flag to be believed.
	leastFlagged = 50
)

// A Model is one row of package score's table: a logistic regression with its calibration.
type Model struct {
	Kind          score.Kind
	From          int       // number of snapshots from which the row holds
	Intercept     float64   // log-odds of a leak without a penalty
	Penalties     []Penalty // in the order of the conditions of score
	Calibration   []Knot    // by LogOdds, ascending
	Leak, Certain float64   // least score of a leak, and of a certain one
}

// A Penalty is how much a condition takes from the log-odds: for each knot, its weight times how far the measured value
// lies below the knot, in Scales.
type Penalty struct {
	Knots, Weights [3]float64
	Scale          float64
}

// A Knot is a point of a calibration: of cases with these log-odds, the share Leaked did leak.
type Knot struct{ LogOdds, Leaked float64 }

// sample is a case as the fit sees it.
type sample struct {
	*Case
	values []float64 // of the conditions; nil of what is excluded
	leaks  bool
	fold   int
	z      float64 // by a fit on other behaviours
}

func samplesOf(groups []Cases, kind score.Kind) (list []*sample) {
	for g := range groups {
		for i := range groups[g].List {
			c := &groups[g].List[i]
			if !c.Counts() || c.Evidence != nil && c.Evidence.Kind != kind {
				continue
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(c.Behaviour.Name))
			s := &sample{Case: c, leaks: c.Leaks(), fold: int(h.Sum32()>>3) % folds}
			if c.Evidence != nil {
				s.values = c.Evidence.Conditions
			}
			list = append(list, s)
		}
	}
	return list
}

// Fit fits the model of one kind of evidence. Calibration and thresholds are those of behaviours left out: each is
// judged by a fit on the others.
func Fit(kind score.Kind, from int, groups ...Cases) Model {
	m, _ := fitLeftOut(kind, from, groups)
	return m
}

// fitLeftOut is Fit, and the cases as judged by fits on other behaviours.
func fitLeftOut(kind score.Kind, from int, groups []Cases) (Model, []*sample) {
	list, counts := samplesOf(groups, kind), countedOf(kind, from)
	for fold := range folds {
		var others []*sample
		for _, s := range list {
			if s.fold != fold {
				others = append(others, s)
			}
		}
		m := fit(others, counts)
		for _, s := range list {
			if s.fold == fold {
				s.z = m.logOdds(s.values)
			}
		}
	}
	m := fit(list, counts)
	m.Kind, m.From = kind, from
	m.Calibration = calibrate(list)
	precision, certain := leakPrecision, certainPrecision
	switch {
	case kind == score.KindTraced:
		precision, certain = tracePrecision, surePrecision
	case from < fewSnapshots:
		precision = fewPrecision
	}
	m.Leak, m.Certain = threshold(list, precision), threshold(list, certain)
	return m, list
}

// countedOf says which conditions of a kind count in a model for so many snapshots.
func countedOf(kind score.Kind, from int) []bool {
	counts := make([]bool, len(kind.Conditions()))
	for i, c := range kind.Conditions() {
		counts[i] = c != score.ConditionGapless || from >= score.ManySnapshots
	}
	return counts
}

// threshold is the lowest log odds from which on so many of what is flagged leak, with those above it taken together.
func threshold(list []*sample, precision float64) float64 {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *sample) int { return cmp.Compare(b.z, a.z) })
	right, at := 0, math.Inf(1)
	for i, s := range sorted {
		if s.leaks {
			right++
		}
		if (i+1 == len(sorted) || sorted[i+1].z < s.z) && i+1 >= leastFlagged && float64(right) >= precision*float64(i+1) {
			at = s.z
		}
	}
	return at
}

// calibrate gives a rising map from log odds to the share of leaks, by cells pooled until each has cases enough and
// none is below the one before it (isotonic regression).
func calibrate(list []*sample) []Knot {
	var sorted []*sample
	for _, s := range list {
		if s.values != nil {
			sorted = append(sorted, s)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *sample) int { return cmp.Compare(a.z, b.z) })
	type cell struct{ cases, leaks, sum float64 }
	var cells []cell
	for part := range slices.Chunk(sorted, leastCases) {
		var c cell
		for _, s := range part {
			c.cases++
			c.sum += s.z
			if s.leaks {
				c.leaks++
			}
		}
		cells = append(cells, c)
		for n := len(cells); n > 1; n = len(cells) {
			a, b := cells[n-2], cells[n-1]
			if b.cases >= leastCases && a.leaks*b.cases < b.leaks*a.cases {
				break
			}
			cells = append(cells[:n-2], cell{a.cases + b.cases, a.leaks + b.leaks, a.sum + b.sum})
		}
	}
	var knots []Knot
	for _, c := range cells { // half a case of each kind more: no number of cases makes certain
		k := Knot{c.sum / c.cases, (c.leaks + 0.5) / (c.cases + 1)}
		if n := len(knots); n > 0 { // which is more where there are few
			k.Leaked = max(k.Leaked, knots[n-1].Leaked)
		}
		knots = append(knots, k)
	}
	return knots
}

func (m *Model) logOdds(values []float64) float64 {
	if values == nil {
		return math.Inf(-1)
	}
	z := m.Intercept
	for i, h := range m.hinges(values) {
		z -= m.Penalties[i/3].Weights[i%3] * h
	}
	return z
}

// hinges are by how many scales values lie below the knots of their conditions.
func (m *Model) hinges(values []float64) []float64 {
	out := make([]float64, 0, 3*len(values))
	for i, v := range values {
		for _, knot := range m.Penalties[i].Knots {
			out = append(out, score.Shortfall(v, knot, m.Penalties[i].Scale))
		}
	}
	return out
}

// fit is a logistic regression on hinges with weights of at least 0 and a strong ridge, by Adam's steps.
// Conditions that do not count have no weight.
func fit(list []*sample, counts []bool) (m Model) {
	m.Intercept = 1
	for i := range counts {
		var leaks []float64
		for _, s := range list {
			if s.leaks && s.values != nil {
				leaks = append(leaks, s.values[i])
			}
		}
		slices.Sort(leaks)
		m.Penalties = append(m.Penalties, Penalty{
			Knots: [3]float64{quantile(leaks, 0.08), quantile(leaks, 0.25), quantile(leaks, 0.5)},
			Scale: max(1e-3, quantile(leaks, 0.75)-quantile(leaks, 0.08)),
		})
		if counts[i] {
			m.Penalties[i].Weights = [3]float64{0.3, 0.3, 0.3}
		}
	}
	var x [][]float64
	var y []float64
	for _, s := range list {
		if s.values == nil {
			continue
		}
		x, y = append(x, m.hinges(s.values)), append(y, 0)
		if s.leaks {
			y[len(y)-1] = 1
		}
	}
	n := 3 * len(counts)
	gradient, mean, square := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for step := 1; step <= steps; step++ {
		clear(gradient)
		for k, h := range x {
			z := m.Intercept
			for i := range h {
				z -= m.Penalties[i/3].Weights[i%3] * h[i]
			}
			e := 1/(1+math.Exp(-z)) - y[k]
			for i := range h {
				gradient[i] -= e * h[i]
			}
			gradient[n] += e
		}
		for i := range n {
			gradient[i] += ridge * m.Penalties[i/3].Weights[i%3]
		}
		for i := range gradient {
			g := gradient[i] / float64(max(1, len(x)))
			mean[i] = 0.9*mean[i] + 0.1*g
			square[i] = 0.99*square[i] + 0.01*g*g
			by := 0.05 * mean[i] / (1 - math.Pow(0.9,
				float64(step))) / (math.Sqrt(square[i]/(1-math.Pow(0.99, float64(step)))) + 1e-8)
			switch {
			case i == n:
				m.Intercept -= by
			case counts[i/3]:
				w := &m.Penalties[i/3].Weights[i%3]
				*w = max(0, *w-by)
			}
		}
	}
	return m
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

// A Pooling is one row of package score's table for runs that are judged together.
type Pooling struct {
	Kind          score.Kind
	Runs          int     // how many runs are judged together
	Calibration   []Knot  // by LogOdds, ascending
	Leak, Certain float64 // least score of a leak, and of a certain one
}

// FitPool fits the judgement on so many runs of a process together, by one kind of evidence. Each case is judged by
// means of what was fitted on other behaviours.
func FitPool(kind score.Kind, runs int, groups ...Cases) Pooling {
	var pooled []*sample
	for _, g := range groups {
		if (g.Snapshots == 0) != (kind == score.KindTraced) {
			continue
		}
		_, list := fitLeftOut(kind, g.Snapshots, []Cases{g})
		type key struct{ process, stack int }
		by := map[key][]*sample{}
		for _, s := range list {
			k := key{s.Process, s.Stack}
			by[k] = append(by[k], s)
		}
		for _, s := range list { // in the order of the cases
			k := key{s.Process, s.Stack}
			if len(by[k]) < runs {
				continue
			}
			sum := &sample{Case: s.Case, leaks: s.leaks}
			for _, r := range by[k][:runs] {
				sum.z += (&score.Evidence{LogOdds: r.z}).PoolableLogOdds() / float64(runs)
				if r.values != nil {
					sum.values = r.values
				}
			}
			pooled = append(pooled, sum)
			delete(by, k)
		}
	}
	precision := poolPrecision
	if kind == score.KindTraced {
		precision = tracePoolPrecision
	}
	return Pooling{kind, runs, calibrate(pooled), threshold(pooled, precision), threshold(pooled, surePrecision)}
}

// WriteModels writes package score's table of models as Go source.
func WriteModels(w io.Writer, models []Model, poolings []Pooling) error {
	var b strings.Builder
	b.WriteString("// Code generated by leakeval -fit; DO NOT EDIT.\n\npackage score\n\nvar models = []model{\n")
	number := func(v float64) string {
		if math.IsInf(v, 1) {
			return "unreached"
		}
		return fmt.Sprintf("%.4g", v)
	}
	three := func(v [3]float64) string {
		return fmt.Sprintf("[3]float64{%s, %s, %s}", number(v[0]), number(v[1]), number(v[2]))
	}
	for _, m := range models {
		fmt.Fprintf(&b, "{ // %s, from %d snapshots on\nkind: %q, from: %d, intercept: %s, leak: %s, certain: %s,\n",
			m.Kind, m.From, m.Kind, m.From,
			number(m.Intercept), number(m.Leak), number(m.Certain))
		b.WriteString("penalties: []penalty{\n")
		for i, p := range m.Penalties {
			fmt.Fprintf(&b, "{%s, %s, %s}, // %s\n", three(p.Knots), number(p.Scale), three(p.Weights), m.Kind.Conditions()[i])
		}
		b.WriteString("},\ncalibration: calibration{")
		for _, k := range m.Calibration {
			fmt.Fprintf(&b, "{%s, %s}, ", number(k.LogOdds), number(k.Leaked))
		}
		b.WriteString("},\n},\n")
	}
	b.WriteString("}\n\nvar poolings = []pooling{\n")
	for _, p := range poolings {
		fmt.Fprintf(&b, "{kind: %q, runs: %d, leak: %s, certain: %s, calibration: calibration{", p.Kind, p.Runs,
			number(p.Leak), number(p.Certain))
		for _, k := range p.Calibration {
			fmt.Fprintf(&b, "{%s, %s}, ", number(k.LogOdds), number(k.Leaked))
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
