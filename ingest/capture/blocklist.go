package capture

import (
	"cmp"
	"context"
	"slices"
)

// A blockList is the blocks of one snapshot in the order of their addresses, each once. Where the evidence has them so,
// the list is the capture's own columns; else it is sorted copies of them.
type blockList struct {
	within   addressRange
	parts    []blockPart // of the capture, where they can be put in order
	apart    bool        // they can
	sorted   columns     // else
	numbers  []int32     // by site of the capture: the merged site
	unlisted []bool      // by merged site: it has more blocks than are listed
	first    []uint8     // by block: since which place of the snapshots that are looked at it is there
	err      error
	room     columns // to merge in
	missing  []int64 // by merged site: blocks that are counted and not listed
}

// columns are blocks of merged sites. Of sizes only 32 bits are kept: two sizes at one address that differ by a
// multiple of 4 GB pass for one.
type columns struct {
	addresses []uint64
	sites     []int32
	sizes     []uint32
}

// compare tells whether a block comes before another one, is it, or comes behind.
func (c *columns) compare(i int, o *columns, k int) int {
	return cmp.Or(cmp.Compare(c.addresses[i], o.addresses[k]), cmp.Compare(c.sites[i], o.sites[k]),
		cmp.Compare(c.sizes[i], o.sizes[k]))
}

func (c *columns) clear(room int) {
	c.addresses, c.sites, c.sizes = slices.Grow(c.addresses[:0], room), slices.Grow(c.sites[:0], room),
		slices.Grow(c.sizes[:0], room)
}

func (c *columns) add(address uint64, site int32, size uint32) {
	c.addresses, c.sites, c.sizes = append(c.addresses, address), append(c.sites, site), append(c.sizes, size)
}

// set makes a block that of another list.
func (c *columns) set(i int, o *columns, k int) {
	c.addresses[i], c.sites[i], c.sizes[i] = o.addresses[k], o.sites[k], o.sizes[k]
}

func (c *columns) part(from, to int) columns {
	return columns{c.addresses[from:to], c.sites[from:to], c.sizes[from:to]}
}

// fill takes the blocks of a capture. Site numbers the merged sites of its sites. What the list had before is room for
// it.
func (l *blockList) fill(ctx context.Context, c *Capture, site func(site uint32) int32, sites int) {
	l.number(c, site, sites)
	if l.parts, l.apart = c.Blocks.inOrder(l.parts[:0]); l.apart {
		for i := range l.parts {
			l.parts[i] = l.parts[i].cut(l.within)
		}
	} else {
		l.sorted.clear(c.Blocks.Len())
	}
	var ends []int // of ascending runs
	for _, p := range c.Blocks.pages {
		if ctx.Err() != nil {
			l.err = context.Cause(ctx)
			return
		}
		for _, s := range p.sites {
			if !l.within.counts {
				break
			}
			if int(s) < len(l.numbers) && l.numbers[s] >= 0 {
				l.missing[l.numbers[s]]--
			}
		}
		if !l.apart {
			ends = l.copy(p, ends)
		}
	}
	if l.within.counts {
		l.unlisted = slices.Grow(l.unlisted[:0], sites)[:sites]
		for m, count := range l.missing {
			l.unlisted[m] = count > 0
		}
	}
	if len(ends) > 0 {
		l.sort(append(ends, len(l.sorted.sites)))
	}
}

// number finds the merged sites, and how many blocks each must list.
func (l *blockList) number(c *Capture, site func(site uint32) int32, sites int) {
	l.numbers, l.missing, l.err = l.numbers[:0], slices.Grow(l.missing[:0], sites)[:sites], nil
	clear(l.missing)
	for k := range c.Sites {
		m := site(uint32(k))
		if int(m) >= sites {
			m = -1
		}
		if l.numbers = append(l.numbers, m); m >= 0 && len(c.Sites[k].Usage) > 0 {
			l.missing[m] += c.Sites[k].Usage[len(c.Sites[k].Usage)-1].Count
		}
	}
}

// copy adds the blocks of a page to the sorted ones, and the places where an ascending run of them ends.
func (l *blockList) copy(p *blockPage, ends []int) []int {
	one := columns{addresses: make([]uint64, 1), sites: make([]int32, 1), sizes: make([]uint32, 1)}
	for i := range p.sites {
		b := p.at(i)
		if int(b.Site) >= len(l.numbers) || l.numbers[b.Site] < 0 || !l.within.has(b.Address) {
			continue
		}
		one.addresses[0], one.sites[0], one.sizes[0] = b.Address, l.numbers[b.Site], uint32(b.Size)
		if k := len(l.sorted.sites); k > 0 {
			switch order := l.sorted.compare(k-1, &one, 0); {
			case order == 0:
				continue
			case order > 0:
				ends = append(ends, k)
			}
		}
		l.sorted.add(one.addresses[0], one.sites[0], one.sizes[0])
	}
	return ends
}

// sort merges ascending runs, which end where ends says: as many as there are heaps, mostly. It drops what is listed
// twice.
func (l *blockList) sort(ends []int) {
	n := len(l.sorted.sites)
	l.room.clear(n)
	room := columns{l.room.addresses[:n], l.room.sites[:n], l.room.sizes[:n]}
	for len(ends) > 1 {
		var merged []int
		from := 0
		for i := 0; i < len(ends); i += 2 {
			middle, to := ends[i], ends[min(i+1, len(ends)-1)]
			mergeBlocks(room.part(from, to), l.sorted.part(from, middle), l.sorted.part(middle, to))
			merged, from = append(merged, to), to
		}
		l.sorted, room, ends = room, l.sorted, merged
	}
	l.room = room
	kept := 0
	for i := range n {
		if kept == 0 || l.sorted.compare(kept-1, &l.sorted, i) != 0 {
			l.sorted.set(kept, &l.sorted, i)
			kept++
		}
	}
	l.sorted = l.sorted.part(0, kept)
}

func mergeBlocks(out, a, b columns) {
	i, k := 0, 0
	for at := range out.sites {
		if k == len(b.sites) || i < len(a.sites) && b.compare(k, &a, i) >= 0 {
			out.set(at, &a, i)
			i++
		} else {
			out.set(at, &b, k)
			k++
		}
	}
}

// most bounds how many blocks the list gives.
func (l *blockList) most() int {
	if !l.apart {
		return len(l.sorted.sites)
	}
	n := 0
	for _, p := range l.parts {
		n += p.to - p.from
	}
	return n
}

// A blockCursor goes through a list. Its columns are those of a part of it.
type blockCursor struct {
	columns
	list   *blockList
	at     int // the part that comes next
	behind int // blocks of the parts before
	room   columns
}

// next goes to the next part that is not empty, and reports false behind the last.
func (b *blockCursor) next() bool {
	b.behind += len(b.sites)
	b.columns = columns{}
	if l := b.list; !l.apart {
		if b.at++; b.at == 1 {
			b.columns = l.sorted
		}
		return len(b.sites) > 0
	}
	for b.at < len(b.list.parts) && len(b.sites) == 0 {
		b.take(b.list.parts[b.at])
		b.at++
	}
	return len(b.sites) > 0
}

// take makes the blocks of a part that belong to merged sites the cursor's columns.
func (b *blockCursor) take(p blockPart) {
	n, numbers := p.to-p.from, b.list.numbers
	b.room.clear(n)
	b.columns = columns{p.addresses(b.room.addresses[:n]), b.room.sites[:n], p.page.sizes[p.from:p.to]}
	missing := false
	for i, s := range p.page.sites[p.from:p.to] {
		m := int32(-1)
		if int(s) < len(numbers) {
			m = numbers[s]
		}
		b.sites[i] = m
		missing = missing || m < 0
	}
	if !missing {
		return
	}
	all := b.columns
	b.sizes = b.room.sizes[:n]
	kept := 0
	for i, m := range all.sites {
		if m >= 0 {
			b.set(kept, &all, i)
			kept++
		}
	}
	b.columns = b.part(0, kept)
}
