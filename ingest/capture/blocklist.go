package capture

import (
	"cmp"
	"context"
	"slices"
)

// A blockList is the blocks of one snapshot in the order of their addresses, each once.
type blockList struct {
	blocks   []listedBlock
	first    []uint8 // since which place of the snapshots that are looked at each block is there
	unlisted []bool  // by merged site: it has more blocks than are listed
	err      error
	room     []listedBlock // to merge in
	merged   []int32       // by site of the capture
	missing  []int64       // by merged site: blocks that are counted and not listed
}

// A listedBlock is what tells a block. Of its size only 32 bits are kept: two sizes at one address that differ by a multiple of
// 4 GB pass for one.
type listedBlock struct {
	address uint64
	site    int32 // merged
	size    uint32
}

func (b *listedBlock) compare(o *listedBlock) int {
	return cmp.Or(cmp.Compare(b.address, o.address), cmp.Compare(b.site, o.site), cmp.Compare(b.size, o.size))
}

func (b *listedBlock) less(o *listedBlock) bool {
	return b.address < o.address || b.address == o.address && b.compare(o) < 0
}

// fill takes the blocks of a capture, sorted. Site numbers the merged sites of its sites. What the list had before is room for it.
func (l *blockList) fill(ctx context.Context, c *Capture, site func(site uint32) int32, sites int) {
	l.merged, l.missing, l.blocks, l.err = l.merged[:0], slices.Grow(l.missing[:0], sites)[:sites], slices.Grow(l.blocks[:0], c.Blocks.Len()), nil
	clear(l.missing)
	for k := range c.Sites {
		m := site(uint32(k))
		if int(m) >= sites {
			m = -1
		}
		if l.merged = append(l.merged, m); m >= 0 && len(c.Sites[k].Usage) > 0 {
			l.missing[m] += c.Sites[k].Usage[len(c.Sites[k].Usage)-1].Count
		}
	}
	n, ends := 0, []int(nil) // of ascending runs
	for b := range c.Blocks.All() {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			l.err = context.Cause(ctx)
			return
		}
		if int(b.Site) >= len(l.merged) || l.merged[b.Site] < 0 {
			continue
		}
		next := listedBlock{b.Address, l.merged[b.Site], uint32(b.Size)}
		l.missing[next.site]--
		if k := len(l.blocks); k > 0 && !l.blocks[k-1].less(&next) {
			if l.blocks[k-1] == next {
				continue
			}
			ends = append(ends, k)
		}
		l.blocks = append(l.blocks, next)
	}
	l.unlisted = slices.Grow(l.unlisted[:0], sites)[:sites]
	for m, count := range l.missing {
		l.unlisted[m] = count > 0
	}
	if len(ends) > 0 {
		l.sort(append(ends, len(l.blocks)))
	}
}

// sort merges ascending runs, which end where ends says: as many as there are heaps, mostly. It drops what is listed twice.
func (l *blockList) sort(ends []int) {
	room := slices.Grow(l.room[:0], len(l.blocks))[:len(l.blocks)]
	for len(ends) > 1 {
		var merged []int
		from := 0
		for i := 0; i < len(ends); i += 2 {
			middle, to := ends[i], ends[min(i+1, len(ends)-1)]
			mergeBlocks(room[from:to], l.blocks[from:middle], l.blocks[middle:to])
			merged, from = append(merged, to), to
		}
		l.blocks, room, ends = room, l.blocks, merged
	}
	l.blocks, l.room = slices.Compact(l.blocks), room
}

func mergeBlocks(out, a, b []listedBlock) {
	for i := range out {
		if len(b) == 0 || len(a) > 0 && !b[0].less(&a[0]) {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
}
