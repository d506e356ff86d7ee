package analysis

import (
	"math"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// A SiteRows says of one site of a report which allocations of the trace's table are its own.
type SiteRows struct {
	Ordinal int // rank in the report
	Kind    string
	Heap    string // handle, "" for none
	Numbers []uint32
}

// A Windowed is the numbers of a run in a window of its trace.
type Windowed struct {
	Window Window
	Totals Totals
	Heaps  []Heap // without timelines, in the order they were given
	Sites  []WindowedSite
}

// A WindowedSite is the numbers of one site of the report in a window. Its stack and names are those of the report.
type WindowedSite struct {
	SiteRows
	Amounts
	Verdict Class
}

// Question is what to ask the allocation table for the numbers of sites in a window. Peaks are of each kind and heap;
// those of single sites take longer, and need only be asked for the sites that are shown.
func Question(w capture.Window, sites []SiteRows, heaps []string) allocations.Question {
	kinds, byHeap := make([]int32, tableSites(sites)), make([]int32, tableSites(sites))
	for i := range kinds {
		kinds[i], byHeap[i] = -1, -1
	}
	place := map[string]int32{}
	for i, h := range heaps {
		place[h] = int32(i)
	}
	for i := range sites {
		for _, n := range sites[i].Numbers {
			kinds[n] = int32(kindOf(sites[i].Kind))
			if at, ok := place[sites[i].Heap]; ok && sites[i].Kind == capture.KindHeap.String() {
				byHeap[n] = at
			}
		}
	}
	return allocations.Question{From: w.From, To: w.To, Sites: len(kinds), Peaks: [][]int32{kinds, byHeap}}
}

// tableSites is one more than the largest number.
func tableSites(sites []SiteRows) int {
	n := 0
	for i := range sites {
		for _, number := range sites[i].Numbers {
			n = max(n, int(number)+1)
		}
	}
	return n
}

func kindOf(name string) capture.SiteKind {
	for k := capture.KindHeap; k <= capture.KindHeapVirtual; k++ {
		if k.String() == name {
			return k
		}
	}
	return capture.KindHeap
}

// InWindow makes the numbers of a window from the table's answer to Question.
func InWindow(a *allocations.Answer, w capture.Window, sites []SiteRows, heaps []string) *Windowed {
	out := &Windowed{Window: windowOf(w), Sites: make([]WindowedSite, len(sites))}
	kinds, byHeap := [capture.KindHeapVirtual + 1]allocations.Classes{}, map[string]allocations.Classes{}
	for i := range sites {
		var sum allocations.Classes
		for _, n := range sites[i].Numbers {
			sum = sum.Add(a.Classes[n])
		}
		kind := kindOf(sites[i].Kind)
		kinds[kind] = kinds[kind].Add(sum)
		if kind == capture.KindHeap {
			byHeap[sites[i].Heap] = byHeap[sites[i].Heap].Add(sum)
		}
		site := WindowedSite{SiteRows: sites[i], Amounts: lifetimesOf(&sum, nil)}
		site.Verdict = classifyTrace(kind, &site.Amounts)
		out.Sites[i] = site
	}
	out.Totals = totalsOf(kinds, peaksOf(a, 0))
	peaks := peaksOf(a, 1)
	for i, handle := range heaps {
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
func totalsOf(kinds [capture.KindHeapVirtual + 1]allocations.Classes, peaks []allocations.Peak) Totals {
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

// classifyTrace says what a site looks like over the window of a trace. What ended with its process is taken as still
// there.
func classifyTrace(kind capture.SiteKind, a *Amounts) Class {
	growth := a.BeforeExit()
	switch {
	case kind == capture.KindHeapVirtual: // the heap's blocks tell
		return ClassUnknown
	case growth.Bytes > 0 || growth.Count > 0:
		return ClassGrowing
	case a.AIFI.Count > 0 && a.AIFO.Count == 0:
		return ClassTransient
	}
	return ClassStable
}
