package tracecapture

import (
	"fmt"
	"math"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
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
	classes allocations.WindowUsage
	peak    allocations.Peak
	merged  bool    // of several, so that the peak is not known yet
	split   bool    // one of several that the tracker knew as one, so that the classes are not known yet either
	shared  []int32 // images of the shared addresses of the stack, by place in the turns of the process
}

// number gives equal sites one number, and renumbers the rows. Sites without rows have none. A site whose frames lie in
// one image now and in another then becomes several, by when its rows were allocated.
func (b *builder) number() {
	stacks := b.joined.Stacks
	canonical := make([]uint32, stacks.Len())
	for id := range canonical {
		canonical[id] = uint32(stacks.Canonical(etl.StackID(id)))
	}
	numbers := make([]uint32, b.tracker.SiteCount())
	known := make(map[place]uint32, len(numbers))
	b.sites = make([]site, 0, len(numbers))
	for i := range numbers {
		s := b.tracker.Site(i)
		if s.Usage == (allocations.WindowUsage{}) { // all of it went to another site: to the reallocating stack, or to a heap
			numbers[i] = math.MaxUint32
			continue
		}
		p := place{process: s.Process, heap: s.Heap, stack: etl.StackID(canonical[s.Stack]), kind: s.Kind}
		n, ok := known[p]
		if !ok {
			n = uint32(len(b.sites))
			known[p] = n
			b.sites = append(b.sites, site{place: p, classes: s.Usage, peak: s.Peak})
		} else {
			b.sites[n].classes = b.sites[n].classes.Add(s.Usage)
			b.sites[n].merged = true
		}
		numbers[i] = n
	}
	b.tracker.ForgetSites()
	b.rows.Renumber(numbers, canonical, b.split(numbers))
}

// split divides the sites whose frames lie in several images over time.
func (b *builder) split(numbers []uint32) (splits []allocations.Split) {
	b.turns = map[uint32]*turns{}
	asked := map[uint32]bool{}
	at := map[uint32]uint32{} // by site: number of its split
	var addresses []uint64
	for n := range len(b.sites) {
		process := b.sites[n].process
		if !asked[process] {
			asked[process] = true
			if t := newTurns(b.joined.Processes[process].Images, b.covered.From, b.covered.To); t != nil {
				b.turns[process] = t
			}
		}
		t := b.turns[process]
		if t == nil {
			continue
		}
		addresses = b.joined.Stacks.Append(addresses[:0], b.sites[n].stack)
		eras := t.eras(addresses)
		if len(eras) == 0 {
			continue
		}
		b.sites[n].shared = eras[0].images
		if len(eras) == 1 {
			continue
		}
		b.sites[n].merged, b.sites[n].split = true, true
		var split allocations.Split
		known := map[string]uint32{fmt.Sprint(eras[0].images): uint32(n)} // an image may be loaded again
		for i, e := range eras {
			to, ok := known[fmt.Sprint(e.images)]
			if !ok {
				to = uint32(len(b.sites))
				known[fmt.Sprint(e.images)] = to
				b.sites = append(b.sites, site{place: b.sites[n].place, shared: e.images, merged: true, split: true})
			}
			if split.Sites = append(split.Sites, to); i > 0 {
				split.From = append(split.From, e.from)
			}
		}
		at[uint32(n)] = allocations.SplitSite + uint32(len(splits))
		splits = append(splits, split)
	}
	for i, n := range numbers {
		if to, ok := at[n]; ok {
			numbers[i] = to
		}
	}
	return splits
}
