package analysis

import (
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// A judge says of the sites and findings of one series what their growth looks like.
type judge struct {
	idle *idleness // of a trace, else nil
	// The instants that are looked at are [first, last): of snapshots those of the longest life of the process.
	first, last int
	axis        score.Axis
	// lowerBound says that the first or the last of them ends early: what it does not list may have been there.
	lowerBound bool
}

// A sample is what is judged: a site, or all sites of a finding.
type sample struct {
	kind      capture.SiteKind
	usage     []capture.Usage       // by snapshot
	survivors int64                 // as score.Series has it
	survival  *allocations.Survival // of traces; nil where next to nothing is left
	scattered bool                  // it is of several sites
	amounts   Amounts
}

// judgeOf prepares the judgement of a series.
func (s *series) judgeOf(r *Report) *judge {
	j := &judge{}
	if r.Trace != nil { // instants at which it worked
		j.idle = newIdleness(r.Trace)
		over := r.Trace.capture().Over(r.Window.capture())
		for j.last < len(r.Snapshots) && r.Snapshots[j.last].AtNS <= over {
			j.last++
		}
		j.axis = axisOf(r.Snapshots[:j.last], nil, 0)
		return j
	}
	j.first, j.last = s.longestLife()
	looked := r.Snapshots[j.first:j.last]
	j.axis = axisOf(looked, r.Work, j.first)
	j.lowerBound = looked[0].LowerBound || looked[len(looked)-1].LowerBound
	return j
}

// axisOf is work where uploads tell it, else time where clocks do, else the number of the snapshot.
func axisOf(snapshots []Snapshot, work *Work, first int) score.Axis {
	a := score.Axis{At: make([]float64, len(snapshots))}
	if work != nil {
		a.Unit = work.Unit
		if copy(a.At, work.At[first:]); ascends(a.At) {
			return a
		}
	}
	a.Unit = hour
	for i := range snapshots {
		a.At[i] = time.Duration(snapshots[i].AtNS).Hours()
	}
	if ascends(a.At) {
		return a
	}
	a.Unit = "snapshot"
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

// A judgeSurvival is score.Trace or score.ExplainTrace.
type judgeSurvival func(*allocations.Survival, *score.Idle) score.Result

// of judges without saying why.
func (j *judge) of(s *sample) score.Result { return j.with(s, score.Snapshots, score.Trace) }

// explain judges and says why.
func (j *judge) explain(s *sample) []score.Clause {
	return j.with(s, score.ExplainSnapshots, score.ExplainTrace).Clauses
}

func (j *judge) with(s *sample, snapshots func(*score.Series, *score.Axis) score.Result, trace judgeSurvival) score.Result {
	if j.idle != nil {
		if j.isScattered(s) {
			r := snapshots(j.series(s), &j.axis)
			r.Certain = false
			return r
		}
		return judgeTrace(s, j.idle, trace)
	}
	if s.amounts.Growth == nil || j.last-j.first < 2 {
		return score.Result{Class: ClassUnknown}
	}
	r := snapshots(j.series(s), &j.axis)
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

// isScattered reports whether several sites of a trace kept something together, of which each by itself kept too little to
// have a survival: then what was outstanding at instants is what tells.
func (j *judge) isScattered(s *sample) bool {
	kept := s.amounts.AIFO.Count + s.amounts.AtExit.Count
	if s.survival != nil {
		_, left := s.survival.Total()
		kept -= 2 * left.Count
	}
	return s.scattered && kept >= allocations.SurvivalLeast && j.last >= score.SnapshotsToJudge
}

// growth is what a sample grew by over the snapshots that are looked at; nil of a single one. From one life of a process to another
// nothing grows.
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
	series := &score.Series{Survivors: s.survivors, Count: make([]int64, 0, j.last-j.first), Bytes: make([]int64, 0, j.last-j.first)}
	for _, u := range s.usage[j.first:j.last] {
		count := u.Count
		if s.kind == capture.KindVirtual { // a reservation that is committed further is one all the same: pages are what grows
			count = u.Bytes / pageBytes
		}
		series.Count, series.Bytes = append(series.Count, count), append(series.Bytes, u.Bytes)
	}
	if s.kind == capture.KindVirtual {
		series.Survivors = -1 // of pages nobody knows
	}
	return series
}

// judgeTrace judges a site of a trace. Where nothing says how long its allocations lived, what became of them says all
// that there is to say. What ended with its process is taken as still there.
func judgeTrace(s *sample, idle *idleness, judge judgeSurvival) score.Result {
	growth := s.amounts.BeforeExit()
	kept := s.amounts.AIFO.Count + s.amounts.AtExit.Count
	switch {
	case s.kind == capture.KindHeapVirtual: // the heap's blocks tell
		return score.Result{Class: ClassUnknown}
	case s.survival != nil:
		return judge(s.survival, idle.of(s.survival))
	case growth.Bytes <= 0 && growth.Count <= 0 && s.amounts.AIFI.Count > 0 && kept == 0:
		return score.Result{Class: ClassTransient}
	case growth.Bytes <= 0 && growth.Count <= 0:
		return score.Result{Class: ClassStable}
	case kept >= allocations.SurvivalLeast:
		return score.Result{Class: ClassGrowing}
	}
	return score.Result{Class: ClassOneTime}
}

// sumOf joins the samples of several sites. Sites that kept too little for a survival of their own are in no sum of them.
func sumOf(samples []*sample) sample {
	sum := sample{kind: samples[0].kind, scattered: true, usage: make([]capture.Usage, len(samples[0].usage))}
	for i, s := range samples {
		for k, u := range s.usage {
			sum.usage[k] = sum.usage[k].Add(u)
		}
		if s.survivors < 0 || sum.survivors < 0 {
			sum.survivors = -1
		} else {
			sum.survivors += s.survivors
		}
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
	out := Amounts{Outstanding: sum(a.Outstanding, b.Outstanding)}
	if a.Growth != nil && b.Growth != nil {
		out.Growth = new(sum(*a.Growth, *b.Growth))
	}
	if x, y := a.Lifetimes, b.Lifetimes; x != nil && y != nil {
		out.Lifetimes = &Lifetimes{
			Allocated: sum(x.Allocated, y.Allocated), Freed: sum(x.Freed, y.Freed), AIFO: sum(x.AIFO, y.AIFO), AIFI: sum(x.AIFI, y.AIFI),
			AOFI: sum(x.AOFI, y.AOFI), AOFO: sum(x.AOFO, y.AOFO), AtExit: sum(x.AtExit, y.AtExit), UnknownFrees: x.UnknownFrees + y.UnknownFrees,
		}
		if x.Teardown != nil || y.Teardown != nil { // of one that kept next to nothing it is not known
			out.Teardown = new(sum(orNone(x.Teardown), orNone(y.Teardown)))
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

// tear tells a sample of a process that began to end inside the window what was left then.
func (s *sample) tear(torn bool) {
	if torn && s.survival != nil {
		_, left := s.survival.Total()
		s.amounts.Teardown = new(amount(left))
	}
}

func orNone(a *Amount) Amount {
	if a == nil {
		return Amount{}
	}
	return *a
}
