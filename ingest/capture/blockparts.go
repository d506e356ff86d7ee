package capture

import (
	"cmp"
	"sort"

	"heapdrift/ingest/sorting"
)

// A blockPart is neighbours of a page whose addresses ascend.
type blockPart struct {
	page     *blockPage
	from, to int
}

// addresses writes those of the part into room, which is as long.
func (p blockPart) addresses(room []uint64) []uint64 {
	if p.page.far != nil {
		copy(room, p.page.far[p.from:p.to])
		return room
	}
	base := p.page.base
	for i, near := range p.page.near[p.from:p.to] {
		room[i] = base + uint64(near)
	}
	return room
}

// cut is what of the part lies in a range.
func (p blockPart) cut(r addressRange) blockPart {
	n := p.to - p.from
	from := sort.Search(n, func(i int) bool { return p.page.address(p.from+i) >= r.first })
	to := sort.Search(n, func(i int) bool { return p.page.address(p.from+i) > r.last })
	return blockPart{p.page, p.from + from, p.from + max(from, to)}
}

// address is that of block i of the page.
func (p *blockPage) address(i int) uint64 {
	if p.far != nil {
		return p.far[i]
	}
	return p.base + uint64(p.near[i])
}

// A stretch is blocks whose addresses ascend: those of a heap, mostly.
type stretch struct {
	from, to    int
	first, last uint64 // addresses
}

// inOrder appends the parts of the list in the order of their addresses. It reports false where stretches of it lie
// within each other, so that no order of parts is one of the blocks.
func (b *Blocks) inOrder(parts []blockPart) ([]blockPart, bool) {
	if b.n == 0 {
		return parts, true
	}
	if len(b.breaks) > mostBreaks {
		return parts, false
	}
	stretches := make([]stretch, 0, len(b.breaks)+1)
	from := 0
	for i := range len(b.breaks) + 1 {
		to := b.n
		if i < len(b.breaks) {
			to = b.breaks[i]
		}
		stretches = append(stretches, stretch{from, to, b.address(from), b.address(to - 1)})
		from = to
	}
	sorting.Unstable(stretches, func(x, y stretch) int { return cmp.Compare(x.first, y.first) })
	for i := 1; i < len(stretches); i++ {
		if stretches[i].first <= stretches[i-1].last {
			return parts, false
		}
	}
	for _, s := range stretches {
		for s.from < s.to {
			page, at := b.pages[s.from/pageBlocks], s.from%pageBlocks
			end := min(len(page.sites), at+s.to-s.from)
			parts = append(parts, blockPart{page, at, end})
			s.from += end - at
		}
	}
	return parts, true
}

func (b *Blocks) address(i int) uint64 { return b.pages[i/pageBlocks].address(i % pageBlocks) }
