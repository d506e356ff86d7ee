package allocations

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// SurvivalLeast is how many allocations of a site must be left for its Survival to be worth keeping: fewer are no leak
// that numbers could show.
const SurvivalLeast = 3

// MaxSurvivals is how many sites are given a Survival at most. One takes 2.6 KB, and 1.5 KB on each core that scans, so
// that these take 100 MB on two. A program has some thousands of sites that leave anything, and the bytes of those
// beyond are next to nothing.
const MaxSurvivals = 16_384

// survivalMemory is for the Survivals of all cores together; where it is short, fewer cores scan.
const survivalMemory = 128 << 20 // bytes

// survivalBytes is what a Survival takes on a core.
const survivalBytes = 16*SurvivalBins + 4*LifetimeBuckets

// A SurvivalQuestion says whose Survival is wanted.
type SurvivalQuestion struct {
	// Slots has for each site the number of the Survival that its rows go to, below MaxSurvivals; −1 for none. Sites of
	// one process may share a Survival.
	Slots []int32
	// From has for each site when its process, or what is traced of it, began, at the beginning of the window at the
	// earliest. Nil is the window's beginning for all.
	From []TraceTime
	// Over has for each site when it is over, at the end of the window at the latest: when its process ends, or begins
	// to free what it holds. Nil is the window's end for all.
	Over []TraceTime
	// Heaps has for each site a number that it shares with the sites of the same heap of the same process; −1 for none.
	// LateUnknownFrees are shared out by it; nil for not at all.
	Heaps []int32
}

// Pick fills Slots of the question's survivals. Most has for each site what it has left at most, as the reader of a
// trace knows it, or what it allocated; sites that have less than SurvivalLeast are left out. Where there are more than
// MaxSurvivals, a scan tells what each has left, and those with most bytes are picked: beyond counts the others.
func (q *Question) Pick(ctx context.Context, rows Scanner, most []Usage) (beyond int, err error) {
	if q.Survivals == nil {
		q.Survivals = &SurvivalQuestion{}
	}
	if q.Survivals.Slots, beyond = pick(most); beyond == 0 {
		return 0, nil
	}
	none, _ := pick(make([]Usage, len(most)))
	a, err := Ask(ctx, rows,
		Question{From: q.From, To: q.To, Sites: q.Sites,
			Survivals: &SurvivalQuestion{Slots: none, From: q.Survivals.From, Over: q.Survivals.Over}})
	if err != nil {
		return 0, err
	}
	for site := range most {
		if most[site].Count < SurvivalLeast { // it may have been left out for other reasons
			a.Left[site] = Usage{}
		}
	}
	q.Survivals.Slots, beyond = pick(a.Left)
	return beyond, nil
}

// pick gives places to the sites that have SurvivalLeast allocations left, MaxSurvivals at most. Those with many have
// the first places, so that what is often counted lies together.
func pick(left []Usage) (places []int32, beyond int) {
	places = make([]int32, len(left))
	var picked []int32
	for site := range left {
		places[site] = -1
		if left[site].Count >= SurvivalLeast {
			picked = append(picked, int32(site))
		}
	}
	if beyond = max(0, len(picked)-MaxSurvivals); beyond > 0 {
		slices.SortStableFunc(picked, func(a, b int32) int { return cmp.Compare(left[b].Bytes, left[a].Bytes) })
		picked = picked[:MaxSurvivals]
	}
	slices.SortStableFunc(picked, func(a, b int32) int { return cmp.Compare(left[b].Count, left[a].Count) })
	for place, site := range picked {
		places[site] = int32(place)
	}
	return places, beyond
}

// SiteSurvival is what a site that has SurvivalLeast allocations left has as its own; nil for others, and for those
// that were not picked.
func (a *Answer) SiteSurvival(q *Question, site int) *Survival {
	if q.Survivals == nil || q.Survivals.Slots[site] < 0 || a.Left[site].Count < SurvivalLeast {
		return nil
	}
	return &a.Survivals[q.Survivals.Slots[site]]
}

func (s *SurvivalQuestion) check(sites int) error {
	if s == nil {
		return nil
	}
	for name, n := range map[string]int{"places": len(s.Slots), "beginnings": len(s.From), "ends": len(s.Over),
		"heaps": len(s.Heaps)} {
		if n != sites && (n != 0 || name == "places") {
			return failure(CodeBounds, nil, "survivals with %s for %d sites of %d", name, n, sites)
		}
	}
	for site, place := range s.Slots {
		if place >= MaxSurvivals {
			return failure(CodeBounds, nil, "site %d has place %d, and %d survivals can be asked for", site, place, MaxSurvivals)
		}
	}
	return nil
}

// A lifespan is the time [from, over] that survivals are of.
type lifespan struct {
	from, over int64
	middle     int64
	width      uint64 // of a bin
	inverse    uint64 // 2^64 / width, less than one below it
	early      bool   // over before the window is: what is destroyed at that instant goes with the process
}

// bin is the bin of an instant so many ns after the beginning: after / width, without the division, which would take as
// long as the rest of the work on a row.
func (s *lifespan) bin(after uint64) uint64 {
	bin, _ := bits.Mul64(after, s.inverse) // one below at most
	if after-bin*s.width >= s.width {
		bin++
	}
	return bin
}

// A survivalPlan is a question made ready for a scan, and the sums of all goroutines.
type survivalPlan struct {
	from  int64
	first int64 // when the first is over
	sites []survivalSite
	spans []lifespan
	mu    sync.Mutex
	sums  []Survival // by place
	row   uint32     // numbers of a bin, of all places
}

// perLine is how many of a bin's numbers share a line of the cache.
const perLine = 16

// A survivalSite is where the rows of a site go.
type survivalSite struct{ place, span int32 }

// survivalPlan makes the question about survivals ready, nil where there is none. Its error is places whose sites begin
// or are over at different times.
func (q *Question) survivalPlan() (*survivalPlan, error) {
	s := q.Survivals
	if s == nil {
		return nil, nil
	}
	places := int32(0)
	for _, place := range s.Slots {
		places = max(places, place+1)
	}
	p := &survivalPlan{from: q.From, first: q.To, sites: make([]survivalSite, q.Sites), sums: make([]Survival, places)}
	p.row = (uint32(places)/perLine | 1) * perLine // no power of two, of which all bins would compete for one place in the cache
	if p.row < uint32(places) {
		p.row += 2 * perLine
	}
	taken := make([]bool, places)
	known := map[[2]int64]int32{}
	for site := range p.sites {
		from, over := q.From, q.To
		if s.Over != nil {
			over = max(min(over, s.Over[site]), q.From)
		}
		if s.From != nil {
			from = min(max(from, s.From[site]), over)
		}
		span, ok := known[[2]int64{from, over}]
		if !ok {
			span = int32(len(p.spans))
			known[[2]int64{from, over}] = span
			p.first = min(p.first, over)
			half, width := (uint64(over)-uint64(from))/2, BinWidth(from, over)
			p.spans = append(p.spans, lifespan{from, over, from + int64(half), width, math.MaxUint64 / width, over < q.To})
		}
		place := max(s.Slots[site], -1)
		p.sites[site] = survivalSite{place, span}
		if place < 0 {
			continue
		}
		if taken[place] && (p.sums[place].From != from || p.sums[place].Over != over) {
			return nil, failure(CodeBounds, nil, "site %d shares place %d with one that begins or is over at another time",
				site, place)
		}
		taken[place] = true
		p.sums[place].From, p.sums[place].Over = from, over
	}
	return p, nil
}

// cores is how many goroutines have room for their sums.
func (p *survivalPlan) cores() int {
	if p == nil {
		return math.MaxInt
	}
	return max(1, survivalMemory/max(1, len(p.sums)*survivalBytes))
}
