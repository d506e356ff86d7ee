package analysis

import (
	"context"
	"fmt"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// A judge classifies the growth of the sites and findings of one series.
type judge struct {
	trace  bool
	clock  score.Clock // when the process worked: over the snapshots that are looked at, or the bins of a trace's window
	looked []int       // of snapshots: those that blocks are followed over, counted from first
	// The instants that are looked at are [first, last): of snapshots those of the longest life of the process.
	first, last int
	axis        score.Axis
	rates       []int64 // by snapshot: bytes from one recorded allocation to the next; nil where all blocks are recorded
	// lowerBound says that the first or the last instant is cut short, so that blocks which it does not list may have
	// existed.
	lowerBound bool
}

// A sample is what is judged: a site, or all sites of a finding.
type sample struct {
	kind      capture.SiteKind
	usage     []capture.Usage         // by snapshot
	spans     []capture.Span          // of snapshots, by place in judge.looked
	followed  bool                    // spans are known
	share     score.AllocationProfile // when it allocated
	survival  *allocations.Survival   // of traces; nil where next to nothing is left
	scattered bool                    // it is of several sites
	amounts   Amounts
}

// judgeOf prepares the judgement of a series. Spans are those of its sites, nil of a trace.
func (s *series) judgeOf(r *Report, spans *capture.SiteSpans) *judge {
	j := &judge{}
	if r.Trace != nil { // instants at which it worked
		j.trace, j.clock.Fallback = true, r.Trace.working(r.Window.capture())
		over := r.Trace.capture().WorkEnd(r.Window.capture())
		for j.last < len(r.Snapshots) && r.Snapshots[j.last].AtNS <= over {
			j.last++
		}
		j.axis = axisOf(r.Snapshots[:j.last], nil, 0)
		return j
	}
	j.first, j.last = s.judgedLife()
	j.rates = s.rates()
	looked := r.Snapshots[j.first:j.last]
	j.axis = axisOf(looked, r.Work, j.first)
	j.lowerBound = looked[0].LowerBound || looked[len(looked)-1].LowerBound
	if len(spans.CaptureIndexes) > 0 && len(spans.CaptureIndexes) < len(looked) {
		j.looked = spans.CaptureIndexes
		j.axis = j.axis.Select(j.looked)
	}
	return j
}

// axisOf is work where uploads tell it, else time where clocks do, else the number of the snapshot.
func axisOf(snapshots []Snapshot, work *Work, first int) score.Axis {
	a := score.Axis{Unit: hour, At: make([]float64, len(snapshots))}
	for i := range snapshots {
		a.At[i] = time.Duration(snapshots[i].AtNS).Hours()
	}
	if ascends(a.At) {
		a.Hours = a.At
	}
	if work != nil {
		if at := work.At[first : first+len(snapshots)]; ascends(at) {
			a.Unit, a.At = work.Unit, at
			return a
		}
	}
	if a.Hours != nil {
		return a
	}
	a.Unit = perSnapshot
	for i := range a.At {
		a.At[i] = float64(i)
	}
	return a
}

func ascends(at []float64) bool {
	for i := 1; i < len(at); i++ {
		if !(at[i] > at[i-1]) {
			return false
		}
	}
	return true
}

// learn tells the judge when the process worked, from all that is judged.
func (j *judge) learn(s *sample) {
	if s.kind == capture.KindHeapVirtual {
		return
	}
	switch {
	case j.trace && s.survival != nil:
		s.share = score.ProfileOfSurvival(s.survival)
	case !j.trace && j.last-j.first >= 2:
		s.share = score.ProfileOfSeries(j.series(s))
	}
	j.clock.Add(s.share)
}

// all judges sites on all cores: when the process worked has to be learned from all of them first.
func (j *judge) all(ctx context.Context, sites []*judgedSite) error {
	for _, site := range sites {
		j.learn(&site.sample)
	}
	inParts(len(sites), func(from, to int) {
		for i, site := range sites[from:to] {
			if i%64 == 0 && ctx.Err() != nil {
				return
			}
			site.result = j.of(&site.sample)
			if site.verdict = site.result.Class; site.left != nil {
				site.verdict = site.atExit().class()
			} else if isUnreferenced(site.verdict, site.blamed, site.unreachable) {
				site.verdict = ClassUnreferenced
			}
		}
	})
	if ctx.Err() != nil {
		return fmt.Errorf("analysis: %w", context.Cause(ctx))
	}
	return nil
}

// of judges without saying why.
func (j *judge) of(s *sample) score.Result { return j.with(s, score.JudgeSnapshots, score.JudgeTrace) }

// explain judges and says why.
func (j *judge) explain(s *sample) []score.Clause {
	return j.with(s, score.ExplainSnapshots, score.ExplainTrace).Clauses
}

// The functions that judge, with clauses or without.
type (
	snapshotJudge func(*score.Series, *score.Axis, []float64) score.Result
	survivalJudge func(*allocations.Survival, []float64) score.Result
)

func (j *judge) with(s *sample, snapshots snapshotJudge, trace survivalJudge) score.Result {
	if j.trace {
		if j.isScattered(s) {
			r := snapshots(j.series(s), &j.axis, nil)
			r.Certain = false
			return r
		}
		r := judgeTrace(s, &j.clock, trace)
		if r.Class != ClassLeak && s.kind == capture.KindHeap {
			if series := j.series(s); score.GrowsInPlace(series) {
				return snapshots(series, &j.axis, nil)
			}
		}
		return r
	}
	if s.amounts.Growth == nil || j.last-j.first < 2 {
		return score.Result{Class: ClassUnknown}
	}
	r := snapshots(j.series(s), &j.axis, j.clock.Without(&s.share, len(j.axis.At)-1))
	if j.lowerBound { // what is not listed may have been there, at the first instant as well as at the last
		switch r.Class {
		case ClassLeak:
			r.Class, r.Certain = ClassGrowing, false
		case ClassGrowing, ClassUnknown:
		default:
			r.Class = ClassUnknown
		}
	}
	return r
}

// isScattered reports whether the sites of a trace kept memory only together, because each by itself kept too little to
// have a survival. Such sites are judged by what is outstanding at instants.
func (j *judge) isScattered(s *sample) bool {
	kept := s.amounts.AIFO.Count + s.amounts.AtExit.Count
	if s.survival != nil {
		_, left := s.survival.Total()
		kept -= 2 * left.Count
	}
	return s.scattered && kept >= allocations.SurvivalLeast && j.last >= score.SnapshotsToJudge
}

// growth is the growth of a sample over the snapshots that the judge looks at; nil for a single snapshot. No growth is
// computed across two lives of a process.
func (j *judge) growth(s *sample) *Amount {
	if j.last-j.first < 2 {
		return nil
	}
	d := s.usage[j.last-1].Sub(s.usage[j.first])
	return &Amount{d.Count, d.Bytes}
}

// pageBytes is the size of a page of memory.
const pageBytes = 4096

// series is a sample as score takes it.
func (j *judge) series(s *sample) *score.Series {
	usage := s.usage[j.first:j.last]
	n := len(usage)
	if j.looked != nil {
		n = len(j.looked)
	}
	series := &score.Series{Count: make([]int64, n), Bytes: make([]int64, n), Spans: s.spans, Followed: s.followed}
	estimated, recorded := int64(0), int64(0)
	for i := range n {
		at := i
		if j.looked != nil {
			at = j.looked[i]
		}
		u := usage[at]
		series.Count[i], series.Bytes[i] = u.Count, u.Bytes
		if j.rates != nil {
			series.Count[i] = u.Recorded(j.rates[j.first+at])
			estimated, recorded = estimated+u.Count, recorded+series.Count[i]
		}
		if s.kind == capture.KindVirtual { // a reservation that is committed further is one all the same: pages are what grows
			series.Count[i] = u.Bytes / pageBytes
		}
	}
	if j.rates != nil {
		series.Weight = float64(max(1, estimated)) / float64(max(1, recorded))
	}
	if s.kind == capture.KindVirtual {
		series.Spans, series.Followed = nil, false // of pages nobody knows
	}
	return series
}

// judgeTrace judges a site of a trace. Where no survival is known, the judgement rests on how its allocations ended.
// Blocks that ended with the process count as outstanding.
func judgeTrace(s *sample, clock *score.Clock, judge survivalJudge) score.Result {
	growth := s.amounts.GrowthBeforeExit()
	kept := s.amounts.AIFO.Count + s.amounts.AtExit.Count
	switch {
	case s.kind == capture.KindHeapVirtual: // the heap's blocks tell
		return score.Result{Class: ClassUnknown}
	case s.survival != nil:
		return judge(s.survival, clock.Without(&s.share, allocations.SurvivalBins))
	case growth.Bytes <= 0 && growth.Count <= 0 && s.amounts.AIFI.Count > 0 && kept == 0:
		return score.Result{Class: ClassTransient}
	case growth.Bytes <= 0 && growth.Count <= 0:
		return score.Result{Class: ClassStable}
	case kept >= allocations.SurvivalLeast:
		return score.Result{Class: ClassGrowing, Unscored: true}
	}
	return score.Result{Class: ClassOneTime}
}

// sumOf joins the samples of several sites. Sites that kept too little for a survival of their own are in no sum of
// them.
func sumOf(samples []*sample) sample {
	sum := sample{kind: samples[0].kind, scattered: true, usage: make([]capture.Usage, len(samples[0].usage))}
	for i, s := range samples {
		for k, u := range s.usage {
			sum.usage[k] = sum.usage[k].Add(u)
		}
		sum.spans, sum.followed = capture.MergeSpans(sum.spans, s.spans), s.followed && (i == 0 || sum.followed)
		sum.share.Add(s.share)
		sum.takeSurvival(s.survival)
		if i == 0 {
			sum.amounts = s.amounts
		} else {
			sum.amounts = addAmounts(sum.amounts, s.amounts)
		}
	}
	return sum
}

// addAmounts joins the figures of sites of one process. The peak of several together is not known.
func addAmounts(a, b Amounts) Amounts {
	out := Amounts{Outstanding: a.Outstanding.Plus(b.Outstanding)}
	if a.Growth != nil && b.Growth != nil {
		out.Growth = new(a.Growth.Plus(*b.Growth))
	}
	if x, y := a.Lifetimes, b.Lifetimes; x != nil && y != nil {
		out.Lifetimes = &Lifetimes{
			Allocated: x.Allocated.Plus(y.Allocated), Freed: x.Freed.Plus(y.Freed), AIFO: x.AIFO.Plus(y.AIFO),
			AIFI: x.AIFI.Plus(y.AIFI),
			AOFI: x.AOFI.Plus(y.AOFI), AOFO: x.AOFO.Plus(y.AOFO), AtExit: x.AtExit.Plus(y.AtExit),
			UnknownFrees: x.UnknownFrees + y.UnknownFrees,
		}
		if x.HeldAtTeardown != nil || y.HeldAtTeardown != nil { // of one that kept next to nothing it is not known
			out.HeldAtTeardown = new(orNone(x.HeldAtTeardown).Plus(orNone(y.HeldAtTeardown)))
		}
	}
	return out
}

// takeSurvival adds what is known of how long allocations lived; nil for nothing.
func (s *sample) takeSurvival(v *allocations.Survival) {
	switch {
	case v == nil:
	case s.survival == nil:
		s.survival = new(*v)
	default:
		s.survival.Add(v)
	}
}

// tear gives a sample, where its process began to end inside the window, the blocks that were left then.
func (s *sample) tear(torn bool) {
	if torn && s.survival != nil {
		_, left := s.survival.Total()
		s.amounts.HeldAtTeardown = new(amount(left))
	}
}

func orNone(a *Amount) Amount {
	if a == nil {
		return Amount{}
	}
	return *a
}
