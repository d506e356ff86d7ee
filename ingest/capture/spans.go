package capture

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
)

// A Span counts blocks of a merged site that were first seen in one snapshot and seen without a gap until another.
// First and Last are indexes into SiteSpans.Looked. Blocks whose Last is the last index are still held.
type Span struct {
	First, Last int32
	Count       int64 // blocks
}

// Of so many snapshots at most blocks are followed: a span for each pair of them has to be countable for each site.
// Where there are more, they are looked at in even steps, the first and the last always.
const (
	mostLooked = 24
	fewLooked  = 12
	// manySites is from how many merged sites on only fewLooked are followed: 24 snapshots take 1.2 KB for each.
	manySites = 1 << 16
)

// SiteSpans are the spans of the blocks of all merged sites.
type SiteSpans struct {
	CaptureIndexes []int // indexes of the captures that were compared, ascending
	spans          []Span
	ends           []int  // by site: where its spans end
	unlisted       []bool // by site
}

// Of returns the spans of a merged site, sorted by First and then by Last. Known is false if a snapshot does not list
// every block of the site with its address, or if there are fewer than three snapshots.
func (s *SiteSpans) Of(site int) (spans []Span, known bool) {
	if s == nil || len(s.CaptureIndexes) == 0 || s.unlisted[site] {
		return nil, false
	}
	from := 0
	if site > 0 {
		from = s.ends[site-1]
	}
	return s.spans[from:s.ends[site]], true
}

// Spans says of each merged site when its blocks came and went, over snapshots of one process life, oldest first. Site
// numbers the merged site of a capture's site from 0 to sites−1, negative for none.
//
// A block is the same where address, size and merged site are: one that was freed and whose address was given to the
// same site again between two snapshots passes for one that stayed. What is gone in a snapshot and back in a later one
// is another block.
//
// It takes a byte for each block of three neighbouring snapshots, or 33 where a snapshot does not list its blocks by
// address. Each pair of snapshots and site takes 4 bytes, or 8 where there are many blocks. Site is called from several
// goroutines then.
func Spans(ctx context.Context, captures []*Capture, site func(capture int, site uint32) int32,
	sites int) (*SiteSpans, error) {
	out := &SiteSpans{}
	if len(captures) < 3 {
		return out, nil
	}
	out.CaptureIndexes = looked(len(captures), sites)
	out.unlisted = make([]bool, sites)
	ranges := rangesOf(captures)
	counters, errs := make([]*spanCounter, len(ranges)), make([]error, len(ranges))
	var all sync.WaitGroup
	for i, r := range ranges {
		counters[i] = &spanCounter{snapshots: len(out.CaptureIndexes),
			cells: make([]uint32, sites*len(out.CaptureIndexes)*(len(out.CaptureIndexes)+1)/2)}
		all.Go(func() { errs[i] = out.follow(ctx, captures, counters[i], r, site, sites) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	counter := counters[0]
	for _, other := range counters[1:] {
		for i, n := range other.cells {
			counter.cells[i] += n
		}
	}
	counter.into(out, sites)
	return out, nil
}

// An addressRange is the blocks of which a goroutine follows each, both ends inside. counts says that it looks for what
// is not listed, which is no matter of addresses.
type addressRange struct {
	first, last uint64
	counts      bool
}

func (r addressRange) has(address uint64) bool { return address >= r.first && address <= r.last }

// manyBlocks is from how many blocks of a snapshot on two goroutines share them by address.
const manyBlocks = 1 << 17

// rangesOf divides the address space where there is much to follow: by the block in the middle of the first snapshot.
func rangesOf(captures []*Capture) []addressRange {
	b := &captures[0].Blocks
	if b.n < manyBlocks || runtime.GOMAXPROCS(0) < 2 {
		return []addressRange{{0, math.MaxUint64, true}}
	}
	middle := max(1, b.pages[len(b.pages)/2].address(0))
	return []addressRange{{0, middle - 1, true}, {middle, math.MaxUint64, false}}
}

// follow counts the spans of the blocks in a range.
func (s *SiteSpans) follow(ctx context.Context, captures []*Capture, counter *spanCounter, r addressRange,
	site func(capture int, site uint32) int32, sites int) error {
	lists, used, stop := make(chan *blockList, 1), make(chan *blockList, 3), make(chan struct{})
	defer close(stop)
	for range cap(used) {
		used <- &blockList{within: r}
	}
	go func() { // the next snapshot is sorted while this one is compared
		defer close(lists)
		for _, number := range s.CaptureIndexes {
			var list *blockList
			select {
			case list = <-used:
			case <-stop:
				return
			}
			list.fill(ctx, captures[number], func(at uint32) int32 { return site(number, at) }, sites)
			select {
			case lists <- list:
			case <-stop:
				return
			}
		}
	}()
	before := &blockList{}
	now := uint8(0)
	for list := range lists {
		if list.err != nil {
			return list.err
		}
		for m, unlisted := range list.unlisted {
			s.unlisted[m] = s.unlisted[m] || unlisted
		}
		counter.compare(before, list, now)
		if now > 0 {
			used <- before
		}
		before = list
		now++
	}
	counter.compare(before, &blockList{}, now)
	return nil
}

// looked picks the captures that are compared.
func looked(captures, sites int) []int {
	n := mostLooked
	if sites > manySites {
		n = fewLooked
	}
	n = min(n, captures)
	list := make([]int, n)
	for i := range list {
		list[i] = i * (captures - 1) / (n - 1)
	}
	return list
}

// A spanCounter counts blocks by site and span: a triangle of cells for each site.
type spanCounter struct {
	snapshots int
	cells     []uint32
}

// add counts one block that is not seen any more.
func (c *spanCounter) add(site int32, first, last uint8) {
	n, row := c.snapshots, int(first)
	c.cells[int(site)*(n*(n+1)/2)+row*n-row*(row-1)/2+int(last)-row]++
}

// compare finds the blocks of the snapshot before in this one: those that are there go on, the others are counted.
func (c *spanCounter) compare(before, list *blockList, now uint8) {
	list.first = slices.Grow(list.first[:0], list.most())
	old, blocks := blockCursor{list: before}, blockCursor{list: list}
	k, more := 0, old.next()
	pass := func() {
		if k++; k == len(old.sites) {
			k, more = 0, old.next()
		}
	}
	for blocks.next() {
		for i, address := range blocks.addresses {
			for more && (old.addresses[k] < address || old.addresses[k] == address && old.compare(k, &blocks.columns, i) < 0) {
				c.add(old.sites[k], before.first[old.behind+k], now-1)
				pass()
			}
			first := now
			if more && old.addresses[k] == address && old.compare(k, &blocks.columns, i) == 0 {
				first = before.first[old.behind+k]
				pass()
			}
			list.first = append(list.first, first)
		}
	}
	for more {
		c.add(old.sites[k], before.first[old.behind+k], now-1)
		pass()
	}
}

// into lists the cells that are not empty.
func (c *spanCounter) into(out *SiteSpans, sites int) {
	out.ends = make([]int, sites)
	cells, taken := c.cells, 0
	for _, count := range cells {
		if count != 0 {
			taken++
		}
	}
	out.spans = make([]Span, 0, taken)
	for site := range sites {
		for first := range c.snapshots {
			for last := first; last < c.snapshots; last++ {
				if cells[0] != 0 {
					out.spans = append(out.spans, Span{int32(first), int32(last), int64(cells[0])})
				}
				cells = cells[1:]
			}
		}
		out.ends[site] = len(out.spans)
	}
}

// MergeSpans returns the spans of two sites together, sorted as those of SiteSpans.Of.
func MergeSpans(a, b []Span) []Span {
	if len(a) == 0 {
		return b
	}
	out := make([]Span, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.First == y.First && x.Last == y.Last:
			out = append(out, Span{x.First, x.Last, x.Count + y.Count})
			a, b = a[1:], b[1:]
		case x.First < y.First || x.First == y.First && x.Last < y.Last:
			out, a = append(out, x), a[1:]
		default:
			out, b = append(out, y), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
