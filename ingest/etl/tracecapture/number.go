package tracecapture

import (
	"math"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/lifetimes"
)

// A place is what tells sites apart.
type place struct {
	process uint32
	heap    uint64
	stack   etl.StackID // canonical
	kind    allocations.Kind
}

// A site is a lifetimes.Site under its final number. While a trace is read, one stack has many ids: one for each time
// that its key was given out, and one for each pair of parts. Afterwards it has one.
type site struct {
	place
	classes allocations.Classes
	peak    allocations.Peak
	merged  bool // of several, so that the peak is not known yet
}

// number gives equal sites one number, and renumbers the rows. Sites without rows have none.
func number(tracker *lifetimes.Tracker, stacks *etl.Stacks, rows *allocations.Spool) []site {
	canonical := make([]uint32, stacks.Len())
	for id := range canonical {
		canonical[id] = uint32(stacks.Canonical(etl.StackID(id)))
	}
	numbers := make([]uint32, tracker.SiteCount())
	known := make(map[place]uint32, len(numbers))
	sites := make([]site, 0, len(numbers))
	for i := range numbers {
		s := tracker.Site(i)
		if s.Classes == (allocations.Classes{}) { // all of it went to another site: to the reallocating stack, or to a heap
			numbers[i] = math.MaxUint32
			continue
		}
		p := place{process: s.Process, heap: s.Heap, stack: etl.StackID(canonical[s.Stack]), kind: s.Kind}
		n, ok := known[p]
		if !ok {
			n = uint32(len(sites))
			known[p] = n
			sites = append(sites, site{place: p, classes: s.Classes, peak: s.Peak})
		} else {
			sites[n].classes = sites[n].classes.Add(s.Classes)
			sites[n].merged = true
		}
		numbers[i] = n
	}
	tracker.ForgetSites()
	rows.Renumber(numbers, canonical)
	return sites
}
