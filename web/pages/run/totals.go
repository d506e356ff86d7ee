package run

import (
	"slices"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

// A measure is one column of the totals and of a site's numbers.
type measure struct {
	name, title string
	of          func(analysis.Amounts) (analysis.Amount, bool) // false where it is not known
	signed      bool                                           // a growth
	own         bool                                           // one of the four that WPA names
}

// measures are all numbers of a window, with the words of Windows Performance Analyzer.
var measures = []measure{
	{name: "Impacting", title: "impacting size: held at the window's end minus held at its start",
		signed: true, of: impacting},
	{name: "At start", title: "held at the window's start: AOFI and AOFO",
		of: atStart},
	{name: "At end", title: "held at the window's end: AIFO and AOFO", of: outstanding},
	{name: "Allocated", title: "allocated inside the window, freed or not: Size and Count in WPA",
		of: allocated},
	{name: "Freed", title: "freed inside the window: AIFI and AOFI",
		of: traced(func(l *analysis.Lifetimes) analysis.Amount { return l.Freed })},
	{name: "Peak", title: "most held at once inside the window", of: peakOf},
	{name: "AIFO", title: "allocated inside the window, freed after it or never: possible leaks", own: true,
		of: traced(func(l *analysis.Lifetimes) analysis.Amount { return l.AIFO })},
	{name: "AIFI", title: "allocated and freed inside the window: transient", own: true, of: transient},
	{name: "AOFI", title: "allocated before the window, freed inside it", own: true,
		of: traced(func(l *analysis.Lifetimes) analysis.Amount { return l.AOFI })},
	{name: "AOFO", title: "allocated before the window, freed after it or never", own: true,
		of: traced(func(l *analysis.Lifetimes) analysis.Amount { return l.AOFO })},
}

// atExit is a measure of windows that hold the end of the process.
var atExit = measure{name: "At exit",
	title: "freed inside the window only by process exit: held just before",
	of:    traced(func(l *analysis.Lifetimes) analysis.Amount { return l.AtExit })}

var measuresWithExit = slices.Insert(slices.Clone(measures), 5, atExit)

// impacting, outstanding, allocated and transient are numbers that totals and sites have.
func impacting(a analysis.Amounts) (analysis.Amount, bool) {
	if a.Growth == nil {
		return analysis.Amount{}, false
	}
	return *a.Growth, true
}

// atStart is what was outstanding as the window began.
var atStart = traced(func(l *analysis.Lifetimes) analysis.Amount { return l.AOFI.Plus(l.AOFO) })

func outstanding(a analysis.Amounts) (analysis.Amount, bool) { return a.Outstanding, true }

var (
	allocated = traced(func(l *analysis.Lifetimes) analysis.Amount { return l.Allocated })
	transient = traced(func(l *analysis.Lifetimes) analysis.Amount { return l.AIFI })
)

// traced is a number that only traces have.
func traced(of func(*analysis.Lifetimes) analysis.Amount) func(analysis.Amounts) (analysis.Amount, bool) {
	return func(a analysis.Amounts) (analysis.Amount, bool) {
		if a.Lifetimes == nil {
			return analysis.Amount{}, false
		}
		return of(a.Lifetimes), true
	}
}

func peakOf(a analysis.Amounts) (analysis.Amount, bool) {
	if p := peakAt(a); p != nil {
		return p.Amount, true
	}
	return analysis.Amount{}, false
}

// measures are those that the window has.
func (v *traceView) measures() []measure {
	if _, ended := v.exited(); !ended {
		return measures
	}
	return measuresWithExit
}

// A totalsRow is one kind of memory.
type totalsRow struct {
	name, note string
	unit       string // what its counts are of
	below      bool   // other rows have the same bytes
	absent     string // why there are no numbers; "" where there are
	analysis.Amounts
}

func (v *traceView) totalsRows() []totalsRow {
	t, whole := v.totals(), v.report.Totals
	heap := totalsRow{name: "Heap", unit: "block", Amounts: t.Heap}
	virtual := totalsRow{name: "Virtual memory", unit: "commit", Amounts: t.Virtual}
	commits := totalsRow{name: "Heap’s own commits",
		note: "memory that heaps committed for their blocks: the same bytes as Heap, not more memory",
		unit: "commit", below: true}
	heap.absent, virtual.absent = v.report.WhyUnrecorded()
	rows := []totalsRow{heap, virtual}
	if whole.HeapVirtual != nil && !whole.HeapVirtual.IsNothing() && t.HeapVirtual != nil {
		commits.Amounts = *t.HeapVirtual
		rows = append(rows, commits)
	}
	return rows
}

// unknownFrees counts the frees that no number has.
func (v *traceView) unknownFrees() int64 {
	t := v.totals()
	return lives(t.Heap).UnknownFrees + lives(t.Virtual).UnknownFrees
}

// changeOfAmount is a growth of bytes as tables show it.
func changeOfAmount(a analysis.Amount, unit string) ui.GrowthText {
	c := ui.BytesGrowthText(&a.Bytes)
	c.Exact += " in " + signed(a.Count) + " " + unit
	if a.Count != 1 && a.Count != -1 {
		c.Exact += "s"
	}
	return c
}

func signed(n int64) string {
	if n > 0 {
		return "+" + quantity.Count(n)
	}
	return quantity.Count(n)
}
