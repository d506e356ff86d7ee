package analysis

import (
	"cmp"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// Lifetimes count what only a trace tells, in a window. AIFO and so on are the columns of Windows Performance Analyzer:
// Allocated Inside or Outside (before) the window, Freed Inside or Outside (after, or never).
type Lifetimes struct {
	Allocated Amount `json:"allocated"` // inside the window
	Freed     Amount `json:"freed"`     // inside the window
	AIFO      Amount `json:"aifo"`      // held at the window's end
	AIFI      Amount `json:"aifi"`      // transient
	AOFI      Amount `json:"aofi"`
	AOFO      Amount `json:"aofo"`
	// AtExit is the part of AIFI and AOFI that ended with its process: held at the instant before.
	AtExit Amount `json:"at_exit"`
	// UnknownFrees counts frees inside the window whose allocation is not in the trace. They are in no other number.
	UnknownFrees int64 `json:"unknown_frees"`
	Peak         *Peak `json:"peak,omitempty"` // nil where it was not asked for
	// HeldAtTeardown is what was allocated inside the window and held when the process began to free its memory before
	// it ended; nil where it did not, or where it held next to nothing.
	HeldAtTeardown *Amount `json:"teardown,omitempty"`
	// HeldAtExit is what was held before the process ended inside the window, as HeldBeforeExit says; nil where no
	// memory ended with it.
	HeldAtExit *Amount `json:"before_exit,omitempty"`
}

// A Peak is the most bytes that were held at once, with the number of blocks at that instant.
type Peak struct {
	Amount
	AtNS int64 `json:"at_ns"` // when it was first reached, ns since the trace's start
}

// A Window is a part of a trace, both ends inside. Times are ns since the trace's start.
type Window struct {
	FromNS     int64 `json:"from_ns"`
	ToNS       int64 `json:"to_ns"`
	DurationNS int64 `json:"duration_ns"`
}

func (w *Window) capture() capture.Window { return capture.Window{From: w.FromNS, To: w.ToNS} }

// A Trace describes a recording. Times are ns since Start.
type Trace struct {
	Start string `json:"start"` // UTC, RFC 3339
	// FromNS and ToNS bound the time that the trace covers: FromNS is its first event, ToNS the end of the session.
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
	// HeapFromNS is when the first session that traced heaps began.
	HeapFromNS int64 `json:"heap_from_ns"`
	Events     int64 `json:"events"` // in the trace, of all processes
	// BeganNS and ExitedNS are when the process began and ended, where that is inside the trace.
	BeganNS  *int64 `json:"began_ns,omitempty"`
	ExitedNS *int64 `json:"exited_ns,omitempty"`
	// TeardownNS is the last instant before the process began to free its memory in order to end; nil where it did not.
	TeardownNS *int64 `json:"teardown_ns,omitempty"`
	// HeapTimeline and VirtualTimeline are held bytes over the whole trace, of all heaps and of virtual memory.
	HeapTimeline    Timeline `json:"heap_timeline"`
	VirtualTimeline Timeline `json:"virtual_timeline"`
}

// A Timeline is held bytes over the whole trace, by stretches of time. Stretch i begins at AtNS[i], in ns since the
// trace's start, and lasts to the next.
type Timeline struct {
	AtNS      []int64 `json:"at_ns"`
	LastBytes []int64 `json:"bytes"` // held as the stretch ends
	MaxBytes  []int64 `json:"max"`   // most held in it, exact
}

// timelineOf joins the stretches of a line where there are more than n: to stretches of equal length, each of which is
// closed where nothing happens behind it, so that it gives at most twice as many points as it has stretches.
func timelineOf(points []allocations.Point, n int) Timeline {
	t := Timeline{AtNS: []int64{}, LastBytes: []int64{}, MaxBytes: []int64{}}
	if len(points) <= n {
		for _, p := range points {
			t.add(p.Time, p.LastBytes, p.MaxBytes)
		}
		return t
	}
	first := points[0].Time
	width := (uint64(points[len(points)-1].Time)-uint64(first))/uint64(n/2) + 1
	at := func(i int) uint64 { return (uint64(points[i].Time) - uint64(first)) / width }
	for i := 0; i < len(points); {
		joined, stretch := points[i], at(i)
		for i++; i < len(points) && at(i) == stretch; i++ {
			joined.LastBytes, joined.MaxBytes = points[i].LastBytes, max(joined.MaxBytes, points[i].MaxBytes)
		}
		t.add(joined.Time, joined.LastBytes, joined.MaxBytes)
		if end := int64(uint64(first) + (stretch+1)*width); joined.MaxBytes > joined.LastBytes &&
			i < len(points) && points[i].Time > end {
			t.add(end, joined.LastBytes, joined.LastBytes)
		}
	}
	return t
}

func (t *Timeline) add(at, last, highest int64) {
	t.AtNS, t.LastBytes, t.MaxBytes = append(t.AtNS, at), append(t.LastBytes, last), append(t.MaxBytes, highest)
}

// lifetimesOf makes the figures of a set of allocations. The peak may be nil.
func lifetimesOf(c *allocations.WindowUsage, peak *allocations.Peak) Amounts {
	growth := amount(c.Growth())
	a := Amounts{Outstanding: amount(c.Outstanding()), Growth: &growth, Lifetimes: &Lifetimes{
		Allocated: amount(c.Allocated()), Freed: amount(c.Freed()),
		AIFO: amount(c.AIFO), AIFI: amount(c.AIFI), AOFI: amount(c.AOFI), AOFO: amount(c.AOFO),
		AtExit: amount(c.AtExit), UnknownFrees: c.UnknownFrees,
	}}
	if peak != nil {
		a.Peak = &Peak{amount(peak.Usage), peak.At}
	}
	return a
}

func amount(u allocations.Usage) Amount { return Amount{u.Count, u.Bytes} }

// GrowthBeforeExit is growth as of the instant before the process ended, or began to free what it held in order to end;
// verdicts go by it. Without an end of the process it is Growth.
func (a *Amounts) GrowthBeforeExit() Amount {
	if a.Growth == nil {
		return Amount{}
	}
	if a.Lifetimes != nil && a.HeldAtTeardown != nil {
		return *a.HeldAtTeardown
	}
	g := *a.Growth
	if a.Lifetimes != nil {
		g.Count += a.AtExit.Count
		g.Bytes += a.AtExit.Bytes
	}
	return g
}

// HeldBeforeExit is what was held in the instant before the process ended, or began to free its memory in order to end.
// Pages show this number beside a verdict, which is about that instant. ended says whether any of it ended with the
// process; else held is Outstanding.
func (a *Amounts) HeldBeforeExit() (held Amount, ended bool) {
	if a.Lifetimes == nil || a.Growth == nil || a.HeldAtTeardown == nil && a.AtExit == (Amount{}) {
		return a.Outstanding, false
	}
	before := a.GrowthBeforeExit()
	return Amount{a.Outstanding.Count + before.Count - a.Growth.Count,
		a.Outstanding.Bytes + before.Bytes - a.Growth.Bytes}, true
}

// setHeldAtExit notes in the findings, sites and totals what they held before the process ended.
func (d *draft) setHeldAtExit() {
	r := d.report
	if r.Trace == nil {
		return
	}
	of := func(a *Amounts) {
		if held, ended := a.HeldBeforeExit(); ended {
			a.HeldAtExit = &held
		}
	}
	for _, f := range d.findings {
		of(&f.Amounts)
		for k := range f.ByKind {
			of(&f.ByKind[k].Amounts)
		}
	}
	for i := range r.Sites {
		of(&r.Sites[i].Amounts)
	}
	for i := range r.Heaps {
		of(&r.Heaps[i].Amounts)
	}
	of(&r.Totals.Heap)
	of(&r.Totals.Virtual)
}

// Timelines are drawn from at most that many stretches: of the process, and of a single heap.
const (
	processPoints = 2048
	heapPoints    = 512
	// drawnHeaps is how many heaps have a timeline of their own: those with the highest peaks.
	drawnHeaps = 32
)

func traceOf(t *capture.Trace) *Trace {
	out := &Trace{
		Start: t.Start.Format(time.RFC3339Nano), FromNS: t.From, ToNS: t.To, HeapFromNS: t.HeapFrom, Events: t.Events,
		HeapTimeline: timelineOf(t.Heap.Points, processPoints), VirtualTimeline: timelineOf(t.Virtual.Points, processPoints),
	}
	if t.Began != allocations.BeforeTrace {
		out.BeganNS = &t.Began
	}
	if t.Exited != allocations.Never {
		out.ExitedNS = &t.Exited
	}
	if t.Teardown != allocations.Never {
		out.TeardownNS = &t.Teardown
	}
	return out
}

// takeLives gives the site the figures of its allocations. The peak of several together is not known.
func (s *judgedSite) takeLives(m *mergedSite, t *capture.Trace) {
	var sum allocations.WindowUsage
	for _, l := range m.lives {
		sum = sum.Add(l.Usage)
		s.rows = append(s.rows, l.Number)
		s.sample.takeSurvival(l.Survival)
	}
	s.sample.scattered = len(m.lives) > 1
	var peak *allocations.Peak
	if len(m.lives) == 1 {
		peak = &m.lives[0].Peak
	}
	s.sample.amounts = lifetimesOf(&sum, peak)
	s.sample.tear(isTorn(t.Teardown, t.Window))
	s.Amounts = s.sample.amounts
}

// isTorn reports whether a process begins to end inside a window.
func isTorn(teardown int64, w capture.Window) bool {
	return teardown != allocations.Never && teardown >= w.From && teardown < w.To
}

func (t *Trace) isTorn(w capture.Window) bool { return t.TeardownNS != nil && isTorn(*t.TeardownNS, w) }

// capture is the times of the trace as the capture had them.
func (t *Trace) capture() *capture.Trace {
	orElse := func(at *int64, other int64) int64 {
		if at == nil {
			return other
		}
		return *at
	}
	return &capture.Trace{
		From: t.FromNS, To: t.ToNS, HeapFrom: t.HeapFromNS, Began: orElse(t.BeganNS, allocations.BeforeTrace),
		Exited: orElse(t.ExitedNS, allocations.Never), Teardown: orElse(t.TeardownNS, allocations.Never),
	}
}

// fillTraceTotals sums the sites of a trace by kind, by heap and by instant.
func (s *series) fillTraceTotals(r *Report) {
	part := s.parts[len(s.parts)-1]
	kinds, heaps := [capture.KindHeapVirtual + 1]allocations.WindowUsage{}, make([]allocations.WindowUsage, len(s.heaps))
	for _, m := range s.order {
		for _, l := range m.lives {
			kinds[m.key.kind] = kinds[m.key.kind].Add(l.Usage)
			if m.key.kind == capture.KindHeap && m.key.heap != capture.NoHeap {
				heaps[m.key.heap] = heaps[m.key.heap].Add(l.Usage)
			}
		}
		if m.key.kind == capture.KindHeapVirtual {
			continue
		}
		for i, u := range m.usage {
			r.Snapshots[i].Count += u.Count
			r.Snapshots[i].Bytes += u.Bytes
		}
	}
	r.Totals = totalsOf(kinds, []allocations.Peak{part.Trace.Heap.Peak, part.Trace.Virtual.Peak})
	drawn := highest(part.Heaps, drawnHeaps)
	for i := range part.Heaps { // one part: slots are the places of its heaps
		line := &part.Heaps[i].Timeline
		h := Heap{Handle: hexNumber(s.heaps[i]), Amounts: lifetimesOf(&heaps[i], &line.Peak)}
		if drawn[i] {
			h.Timeline = new(timelineOf(line.Points, heapPoints))
		}
		r.Heaps = append(r.Heaps, h)
	}
}

// highest says which n heaps have the highest peaks.
func highest(heaps []capture.Heap, n int) map[int]bool {
	order := make([]int, len(heaps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(heaps[b].Timeline.Peak.Bytes, heaps[a].Timeline.Peak.Bytes) })
	out := map[int]bool{}
	for _, i := range order[:min(n, len(order))] {
		out[i] = true
	}
	return out
}
