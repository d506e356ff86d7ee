package analysis

import (
	"cmp"
	"math"
	"slices"

	"heapdrift/internal/analysis/score"
)

// Undecided says what a run could leak that its evidence does not decide.
type Undecided struct {
	// Sites counts the findings that must be decided before the run passes.
	Sites int `json:"sites"`
	// Limit is the growth from which a leak keeps the run from passing: what matters or, where the evidence could not
	// have shown that, the smallest leak that it would have shown.
	Limit Growth `json:"limit"`
	// Expected is the sum, over all findings that are no certain leak, of the probability of a leak times the most that
	// it could leak.
	Expected Growth `json:"expected"`
	// Largest is the finding with the largest part of that sum, among those that must be decided if there are any; nil
	// where nothing could leak.
	Largest *PossibleLeak `json:"largest,omitempty"`
}

// A PossibleLeak is what one finding could leak.
type PossibleLeak struct {
	Signature   string  `json:"signature"`
	Probability float64 `json:"probability"` // that it leaks, from 0 to 1, among the findings of this run
	Growth              // the most that it could leak

	where  string  // its frame to blame
	longer float64 // how many times as long a recording would tell what it is; 0 where nothing tells that
}

const (
	// expectedLeaks is how many leaks a run has on average before anything is known of its places: one run in two has one.
	expectedLeaks = 0.5
	// generatedShare is the share of leaks among the generated places that have a score.
	generatedShare = 1.0 / 5
	// resizedScore is the score of a block that is resized to ever more bytes, which its rule does not give.
	resizedScore = 0.9
	// undecidedScore is the score from which a finding whose leak would matter must be decided.
	undecidedScore = 0.5
)

// nothingCame is how many bytes all findings together may have allocated in the whole run for there to be no leak. It
// is for evidence that is too short to tell a leak from a cache.
const nothingCame = 1 << 10

// most is how many bytes of all findings together came in the run and stayed at most, whatever they are.
func (d *draft) most() (bytes float64) {
	for _, f := range d.findings {
		most := f.most
		if f.Growth != nil {
			most = max(most, float64(f.Growth.Bytes))
		}
		bytes += most
	}
	return bytes
}

// Risk is what one finding could leak in its run, whether that matters or not.
type Risk struct {
	Probability float64 // that it leaks, from 0 to 1, among the findings of the run
	MostBytes   float64 // most bytes that it could leak in the run
	Score       float64 // that of the finding, from 0 to 1; 0 where it has none
}

// And is the risk of two parts of one leak in one run together; nil is no risk.
func (r *Risk) And(other *Risk) *Risk {
	if r == nil || other == nil {
		return r.Or(other)
	}
	return &Risk{max(r.Probability, other.Probability), r.MostBytes + other.MostBytes, max(r.Score, other.Score)}
}

// Or is the larger of the risks of one leak in two runs; nil is no risk.
func (r *Risk) Or(other *Risk) *Risk {
	if r == nil || other != nil && other.weight() > r.weight() {
		return other
	}
	return r
}

// weight is how many bytes are expected to leak.
func (r *Risk) weight() float64 { return r.Probability * r.MostBytes }

// A RiskSelection says which risks must be decided before a run passes.
type RiskSelection struct {
	ExpectedBytes    float64 // bytes that all risks together are expected to leak in the run
	MustDecide       []bool  // by the index of the risk
	MustDecideCount  int     // how many elements of MustDecide are true
	LargestRiskIndex int     // index of the largest expected leak, among those that must be decided if there are any; −1 without risks
}

// SelectRisks chooses the risks that must be decided before a run passes: each that is probably a leak and could leak
// more than the limit (bytes of the run). To these it adds the largest others, until the rest is not expected to exceed
// the limit.
func SelectRisks(risks []Risk, limit float64) RiskSelection {
	w := RiskSelection{MustDecide: make([]bool, len(risks)), LargestRiskIndex: -1}
	order := make([]int, len(risks))
	for i := range risks {
		order[i] = i
		w.ExpectedBytes += risks[i].weight()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(risks[b].weight(), risks[a].weight()) })
	rest := w.ExpectedBytes
	for _, i := range order {
		r := &risks[i]
		if r.MostBytes > limit && r.Score >= undecidedScore || rest > limit {
			w.MustDecide[i] = true
			if w.MustDecideCount++; w.MustDecideCount == 1 {
				w.LargestRiskIndex = i
			}
		}
		rest -= r.weight()
	}
	if w.LargestRiskIndex < 0 && len(order) > 0 {
		w.LargestRiskIndex = order[0]
	}
	return w
}

// weigh says what the findings of a report that are no certain leak could leak, and marks those that must be decided.
// Growth that the evidence could not have shown anyway makes nothing undecided.
func (d *draft) weigh() (AppliedThreshold, *Undecided) {
	r := d.report
	r.Observation = d.watch()
	matters := r.Observation.ChooseThreshold(d.opt.Matters, nil)
	limit := r.Observation.FailingBytes(matters.Growth)
	places := d.chances()
	var risks []Risk
	var of []*draftFinding // by risk
	for _, f := range d.findings {
		f.Immaterial = f.Known == "" && !f.Certain
		if !(f.most > 0) {
			continue
		}
		f.Risk = &Risk{Probability: probability(&f.Finding, places), MostBytes: f.most, Score: scoreOf(&f.Finding)}
		if f.Immaterial {
			risks, of = append(risks, *f.Risk), append(of, f)
		}
	}
	w := SelectRisks(risks, limit)
	for i, must := range w.MustDecide {
		of[i].Immaterial = !must
	}
	inUnit := func(bytes float64) Growth { return r.Observation.growth(bytes, matters.Growth.Unit) }
	u := &Undecided{Sites: w.MustDecideCount, Limit: inUnit(limit), Expected: inUnit(w.ExpectedBytes)}
	if w.LargestRiskIndex >= 0 {
		f := of[w.LargestRiskIndex]
		u.Largest = &PossibleLeak{Signature: f.Signature, Probability: f.Risk.Probability, Growth: inUnit(f.most),
			where: f.Where(), longer: longerFor(&f.Finding)}
	}
	return matters, u
}

// watch is what the evidence of a report watched.
func (d *draft) watch() *Observation {
	r := d.report
	w := &Observation{Weighed: true, Hours: d.hours(), SettleHours: max(0, d.opt.Settle).Hours(), Settled: d.settled}
	if r.Trace == nil && d.listsAll() { // a trace does not list what was allocated before it
		held := r.Totals.Heap.Outstanding.Plus(r.Totals.Virtual.Outstanding)
		w.HeldBytes = float64(max(0, held.Bytes))
	}
	if s := r.PartLengths; s != nil && s.Unit != hour {
		w.Unit, w.Work = s.Unit, s.Sum()
	}
	if p := r.Power; p != nil {
		w.PowerBytes = p.Bytes * w.length(p.Unit)
	}
	return w
}

// hours is how long the evidence watched; 0 where its clocks do not tell.
func (d *draft) hours() float64 {
	r := d.report
	if r.Window != nil && r.PartLengths != nil {
		return r.PartLengths.Sum()
	}
	if n := len(d.judged); n > 1 {
		return float64(d.judged[n-1].AtNS-d.judged[0].AtNS) / 3.6e12
	}
	return 0
}

// scoreOf is the score of a finding, also where a rule gives none.
func scoreOf(f *Finding) float64 {
	switch {
	case f.Verdict == ClassGrowingBlock:
		return resizedScore
	case f.Score != nil && f.Evidence != nil:
		return *f.Score
	}
	return 0
}

// probability is how probable it is that a finding leaks, among so many places of a run that could. A score is a
// frequency among generated places, of which more leak than of a real run's: the odds are those of the score times
// those of the run over those of what was generated.
func probability(f *Finding, places int) float64 {
	prior := min(generatedShare, expectedLeaks/float64(max(1, places)))
	s := scoreOf(f)
	if s == 0 && f.Evidence == nil {
		return prior // nothing tells
	}
	const least = 1e-6
	s = min(max(s, least), 1-least)
	odds := s / (1 - s) * prior / (1 - prior) * (1 - generatedShare) / generatedShare
	return odds / (1 + odds)
}

// mostLeaked is the most that a sample can have leaked in the run, in bytes.
func (j *judge) mostLeaked(s *sample, class Class, f *Finding) float64 {
	if class == ClassGrowingBlock && f.Growth != nil {
		return float64(max(0, f.Growth.Bytes))
	}
	held := f.GrowthBeforeExit()
	if held.Count <= 0 {
		return 0
	}
	var blocks float64
	switch {
	case j.trace && s.survival == nil && f.Growth != nil: // too few blocks for their times to be kept
		return float64(max(0, held.Bytes))
	case j.trace && s.survival != nil:
		blocks = score.MostLeakedOfSurvival(s.survival)
	case !j.trace && j.last-j.first >= 2:
		blocks = score.MostLeakedOfSeries(j.series(s), &j.axis)
	}
	return math.Min(blocks/float64(held.Count)*float64(held.Bytes), math.MaxInt64/2)
}
