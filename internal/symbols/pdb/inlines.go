package pdb

import (
	"container/heap"
	"context"
	"slices"
	"sort"
)

// maxInlineDepth bounds how deep inlined calls are followed; compilers stop far before.
const maxInlineDepth = 255

// inlines are the inlined calls of a procedure.
type inlines struct {
	sites  []inlineSite // a call comes before those inside it
	ranges []inlineRange
	cover  []cover
}

// An inlineSite is a call that was inlined.
type inlineSite struct {
	parent   int32 // in sites, -1 for none
	depth    int32
	id       uint32 // of the function
	from, to int32  // its ranges, by start
}

// A cover says which site is the innermost one from an address on, -1 for none.
type cover struct {
	start uint32
	site  int32
}

var noInlines = &inlines{}

// inlinesOf decodes the inline sites of a procedure: S_INLINESITE parent 0, end 4, id 8, annotations 12; S_INLINESITE2
// has the number of calls at 12 and annotations at 16.
func (m *module) inlinesOf(ctx context.Context, p *proc) (*inlines, error) {
	if p.inlines != nil {
		return p.inlines, nil
	}
	p.inlines = noInlines
	kind, b, at, ok := m.record(p.record)
	if !ok || len(b) < 8 || kind == symThunk || kind == symThunkST || kind == symTrampoline {
		return p.inlines, nil
	}
	end, ok := m.end(p.record, le.Uint32(b[4:]))
	if !ok {
		return p.inlines, nil
	}
	in := &inlines{}
	inside := []int32{} // sites that are open
	for at < end {
		kind, b, next, ok := m.record(at)
		if !ok {
			break
		}
		fixed := 12
		switch kind {
		case symInlineSite2:
			fixed = 16
			fallthrough
		case symInlineSite:
			if len(b) < fixed {
				break
			}
			if len(in.sites)%1024 == 1023 && ctx.Err() != nil {
				p.inlines = nil
				return nil, ctx.Err()
			}
			m.addSite(in, p, inside, le.Uint32(b[8:]), b[fixed:])
			inside = append(inside, int32(len(in.sites)-1))
		case symInlineEnd:
			if len(inside) > 0 {
				inside = inside[:len(inside)-1]
			}
		}
		at = next
	}
	if len(in.ranges) > 0 {
		in.paint()
		p.inlines = in
	}
	return p.inlines, nil
}

// addSite adds a site with its ranges, innermost of those that it lies inside.
func (m *module) addSite(in *inlines, p *proc, inside []int32, id uint32, annotations []byte) {
	site := inlineSite{parent: -1, depth: int32(len(inside)), id: id, from: int32(len(in.ranges))}
	if len(inside) > 0 {
		site.parent = inside[len(inside)-1]
	}
	if len(inside) < maxInlineDepth {
		from, _ := m.inlinee(id)
		in.ranges = appendRanges(in.ranges, annotations, p, from)
	}
	site.to = int32(len(in.ranges))
	byStart := func(a, b inlineRange) int { return compareUint32(a.start, b.start) }
	if own := in.ranges[site.from:site.to]; !slices.IsSortedFunc(own, byStart) {
		slices.SortStableFunc(own, byStart)
	}
	in.sites = append(in.sites, site)
}

// paint works out which site is the innermost at each address.
func (in *inlines) paint() {
	order := make([]int32, len(in.ranges)) // by start
	owner := make([]int32, len(in.ranges))
	for s, site := range in.sites {
		for r := site.from; r < site.to; r++ {
			owner[r] = int32(s)
		}
	}
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return compareUint32(in.ranges[a].start, in.ranges[b].start) })
	q := &depthHeap{in: in, owner: owner}
	set := func(at uint32) { // the innermost site from at on
		for len(q.ranges) > 0 && in.ranges[q.ranges[0]].end <= at {
			heap.Pop(q)
		}
		site := int32(-1)
		if len(q.ranges) > 0 {
			site = owner[q.ranges[0]]
		}
		if n := len(in.cover); n > 0 && in.cover[n-1].start == at {
			in.cover[n-1].site = site
		} else if n == 0 || in.cover[n-1].site != site {
			in.cover = append(in.cover, cover{at, site})
		}
	}
	for i := 0; i < len(order) || len(q.ranges) > 0; {
		if len(q.ranges) > 0 {
			if end := in.ranges[q.ranges[0]].end; i == len(order) || end <= in.ranges[order[i]].start {
				set(end)
				continue
			}
		}
		at := in.ranges[order[i]].start
		for ; i < len(order) && in.ranges[order[i]].start == at; i++ {
			heap.Push(q, order[i])
		}
		set(at)
	}
}

// depthHeap is a heap of ranges: deep sites first, then those that come first.
type depthHeap struct {
	in     *inlines
	owner  []int32
	ranges []int32
}

func (q *depthHeap) Len() int { return len(q.ranges) }
func (q *depthHeap) Less(i, j int) bool {
	a, b := q.owner[q.ranges[i]], q.owner[q.ranges[j]]
	if da, db := q.in.sites[a].depth, q.in.sites[b].depth; da != db {
		return da > db
	}
	return a < b
}
func (q *depthHeap) Swap(i, j int) { q.ranges[i], q.ranges[j] = q.ranges[j], q.ranges[i] }
func (q *depthHeap) Push(x any)    { q.ranges = append(q.ranges, x.(int32)) }
func (q *depthHeap) Pop() any {
	last := q.ranges[len(q.ranges)-1]
	q.ranges = q.ranges[:len(q.ranges)-1]
	return last
}

// innermost returns the site that an address is in, -1 for none.
func (in *inlines) innermost(rva uint32) int32 {
	i := sort.Search(len(in.cover), func(i int) bool { return in.cover[i].start > rva }) - 1
	if i < 0 {
		return -1
	}
	return in.cover[i].site
}

// rangeAt returns the range of a site that an address is in. A site without one may still be active, for a call inside
// it is: its line is not known.
func (in *inlines) rangeAt(s int32, rva uint32) (inlineRange, bool) {
	own := in.ranges[in.sites[s].from:in.sites[s].to]
	i := sort.Search(len(own), func(i int) bool { return own[i].start > rva }) - 1
	if i < 0 || own[i].end <= rva {
		return inlineRange{}, false
	}
	return own[i], true
}
