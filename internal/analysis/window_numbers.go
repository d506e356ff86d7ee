package analysis

import (
	"context"
	"fmt"
	"math"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// A SiteRows says which allocations of the trace's table belong to one site of a report.
type SiteRows struct {
	Ordinal    int      // index of the site in Report.Sites
	Kind       string   // of memory: "heap", "virtual" or "heap-virtual"
	Heap       string   // handle in hex, "" for none
	TableSites []uint32 // values of Row.Site
}

// WindowNumbers are the numbers of a run in a window of its trace.
type WindowNumbers struct {
	Window Window
	Totals Totals
	Heaps  []Heap       // without timelines, in the order of TraceSites.Heaps
	Sites  []WindowSite // in the order of TraceSites.Sites
}

// A WindowSite is the numbers of one site of the report in a window. Its stack and names are those of the report.
type WindowSite struct {
	SiteRows
	Amounts
	Verdict Class
	Score   *float64 // probability of a leak; nil where nothing can be said
	Certain bool     // a leak that may fail a gate

	// What the site was judged by; nil where nobody asks why.
	sample *sample
	clock  *score.Clock
}

// Clauses are the reasons for the site's class in the window; none for a stable, transient or unknown one.
func (s *WindowSite) Clauses() []score.Clause {
	if s.sample == nil {
		return nil
	}
	return judgeTrace(s.sample, s.clock, score.ExplainTrace).Clauses
}

// judge judges the site by a sample.
func (s *WindowSite) judge(by *sample, clock *score.Clock) {
	r := judgeTrace(by, clock, score.JudgeTrace)
	s.Verdict, s.Certain = r.Class, r.Certain
	if r.Scored() {
		s.Score = new(r.Score)
	}
	if asksWhy(r.Class) {
		s.sample, s.clock = new(*by), clock // of all samples few are kept
	}
}

// TraceSites are the sites of a report of a trace, for numbers of windows of it.
type TraceSites struct {
	Trace          *Trace
	Sites          []SiteRows
	Heaps          []string // handles, as the report has them
	TableSiteCount int      // every Row.Site of the table is below it; the table may have other processes, too
}

// TraceSites are the sites of the report. TableSiteCount is just above the highest number that they have.
func (r *Report) TraceSites() *TraceSites {
	t := &TraceSites{Trace: r.Trace}
	for i := range r.Sites {
		s := &r.Sites[i]
		t.Sites = append(t.Sites, SiteRows{Ordinal: i, Kind: s.Kind, Heap: s.Heap, TableSites: s.TableSites})
		for _, n := range s.TableSites {
			t.TableSiteCount = max(t.TableSiteCount, int(n)+1)
		}
	}
	for i := range r.Heaps {
		t.Heaps = append(t.Heaps, r.Heaps[i].Handle)
	}
	return t
}

// InWindow computes the numbers of a window from the rows of the trace's allocation table. With peaks it computes the
// peak of each kind and heap; the report has those of the whole trace exactly.
func (t *TraceSites) InWindow(ctx context.Context, rows allocations.Scanner, w capture.Window,
	peaks bool) (*WindowNumbers, error) {
	q := t.question(w, peaks)
	if _, err := q.Pick(ctx, rows, t.most()); err != nil {
		return nil, fmt.Errorf("analysis: window: %w", err)
	}
	a, err := allocations.Ask(ctx, rows, q)
	if err != nil {
		return nil, fmt.Errorf("analysis: window: %w", err)
	}
	return t.answer(&q, a, w), nil
}

// question is what to ask the allocation table.
func (t *TraceSites) question(w capture.Window, peaks bool) allocations.Question {
	kinds, byHeap := t.each(-1), t.each(-1)
	s := &allocations.SurvivalQuestion{
		From: make([]int64, t.TableSiteCount), Over: make([]int64, t.TableSiteCount), Heaps: t.each(-1),
	}
	place := map[string]int32{}
	for i, h := range t.Heaps {
		place[h] = int32(i)
	}
	trace := t.Trace.capture()
	over := trace.WorkEnd(w)
	for i := range t.Sites {
		kind := kindOf(t.Sites[i].Kind)
		at, inHeap := place[t.Sites[i].Heap]
		inHeap = inHeap && kind == capture.KindHeap
		for _, n := range t.Sites[i].TableSites {
			kinds[n] = int32(kind)
			s.From[n], s.Over[n] = trace.TracedFrom(w, kind), over
			if inHeap {
				byHeap[n], s.Heaps[n] = at, at
			} else if kind != capture.KindHeapVirtual {
				s.Heaps[n] = int32(len(t.Heaps)) // virtual memory
			}
		}
	}
	q := allocations.Question{From: w.From, To: w.To, Sites: t.TableSiteCount, Survivals: s}
	if peaks {
		q.Peaks = [][]int32{kinds, byHeap}
	}
	return q
}

func (t *TraceSites) each(v int32) []int32 {
	list := make([]int32, t.TableSiteCount)
	for i := range list {
		list[i] = v
	}
	return list
}

// most is how much each site keeps at most in any window, as the table is told: no site is ruled out in advance. Memory
// that heaps took from the system is not judged.
func (t *TraceSites) most() []allocations.Usage {
	list := make([]allocations.Usage, t.TableSiteCount)
	for i := range t.Sites {
		if kindOf(t.Sites[i].Kind) != capture.KindHeapVirtual {
			for _, n := range t.Sites[i].TableSites {
				list[n].Count = allocations.SurvivalLeast
			}
		}
	}
	return list
}

// kindOf is the kind that reports call by a name.
func kindOf(name string) capture.SiteKind {
	for k := capture.KindHeap; k <= capture.KindHeapVirtual; k++ {
		if k.String() == name {
			return k
		}
	}
	return capture.KindHeap
}

// answer makes the numbers of a window from what the table says.
func (t *TraceSites) answer(q *allocations.Question, a *allocations.Answer, w capture.Window) *WindowNumbers {
	out := &WindowNumbers{Window: windowOf(w), Sites: make([]WindowSite, len(t.Sites))}
	kinds, byHeap := [capture.KindHeapVirtual + 1]allocations.WindowUsage{}, map[string]allocations.WindowUsage{}
	torn := t.Trace.isTorn(w)
	sums, samples := make([]allocations.WindowUsage, len(t.Sites)), make([]sample, len(t.Sites))
	j := &judge{trace: true, clock: score.Clock{Fallback: t.Trace.working(w)}}
	for i := range t.Sites {
		s := &samples[i]
		s.kind = kindOf(t.Sites[i].Kind)
		for _, n := range t.Sites[i].TableSites {
			sums[i] = sums[i].Add(a.Sites[n])
			s.takeSurvival(a.SiteSurvival(q, int(n)))
		}
		s.amounts = lifetimesOf(&sums[i], nil)
		s.tear(torn)
		j.learn(s)
	}
	inParts(len(t.Sites), func(from, to int) { // to judge takes longer than to add up
		for i := from; i < to; i++ {
			out.Sites[i] = WindowSite{SiteRows: t.Sites[i], Amounts: samples[i].amounts}
			out.Sites[i].judge(&samples[i], &j.clock)
		}
	})
	for i := range t.Sites {
		kind := kindOf(t.Sites[i].Kind)
		kinds[kind] = kinds[kind].Add(sums[i])
		if kind == capture.KindHeap {
			byHeap[t.Sites[i].Heap] = byHeap[t.Sites[i].Heap].Add(sums[i])
		}
	}
	out.Totals = totalsOf(kinds, peaksOf(a, 0))
	peaks := peaksOf(a, 1)
	for i, handle := range t.Heaps {
		sum := byHeap[handle]
		var peak *allocations.Peak
		if i < len(peaks) {
			peak = &peaks[i]
		}
		out.Heaps = append(out.Heaps, Heap{Handle: handle, Amounts: lifetimesOf(&sum, peak)})
	}
	return out
}

// peaksOf are the peaks of one grouping, none where they were not asked for.
func peaksOf(a *allocations.Answer, grouping int) []allocations.Peak {
	if grouping >= len(a.Peaks) {
		return nil
	}
	return a.Peaks[grouping]
}

// totalsOf are the totals of a trace by kind.
func totalsOf(kinds [capture.KindHeapVirtual + 1]allocations.WindowUsage, peaks []allocations.Peak) Totals {
	of := func(kind capture.SiteKind) Amounts {
		if int(kind) < len(peaks) {
			return lifetimesOf(&kinds[kind], &peaks[kind])
		}
		return lifetimesOf(&kinds[kind], nil)
	}
	below := of(capture.KindHeapVirtual)
	return Totals{Heap: of(capture.KindHeap), Virtual: of(capture.KindVirtual), HeapVirtual: &below}
}

// windowOf is a window with its length. Damaged time stamps may make that longer than a number of ns can be.
func windowOf(w capture.Window) Window {
	length := w.To - w.From
	if length < 0 {
		length = math.MaxInt64
	}
	return Window{w.From, w.To, length}
}
