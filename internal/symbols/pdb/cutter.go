package pdb

import (
	"context"
	"slices"
	"sort"
)

// A cutter cuts areas of one module where what the module says changes.
type cutter struct {
	w      *walk
	ctx    context.Context //nolint:containedctx // a cutter lives within one call
	l      *locator        // nil for areas of no module
	cuts   []uint32
	others map[uint32]*locator // of the modules of strays
}

// cut returns the segments of an area, without public symbols.
func (c *cutter) cut(a area) ([]LocationRange, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	c.cuts = append(c.cuts[:0], a.start, a.end)
	if c.l != nil {
		if err := c.cutModule(c.l.m, a); err != nil {
			return nil, err
		}
	}
	strays := c.w.strays
	first := sort.Search(len(strays), func(i int) bool { return strays[i].end > a.start })
	last := first
	for ; last < len(strays) && strays[last].start < a.end; last++ {
		c.add(a, strays[last].start)
		c.add(a, strays[last].end)
		l, err := c.other(strays[last].module)
		if err != nil {
			return nil, err
		}
		if err := c.cutModule(l.m, area{max(a.start, strays[last].start), min(a.end, strays[last].end), 0}); err != nil {
			return nil, err
		}
	}
	slices.Sort(c.cuts)
	c.cuts = slices.Compact(c.cuts)

	out := make([]LocationRange, 0, len(c.cuts)-1)
	for i := range c.cuts[:len(c.cuts)-1] {
		if i%64 == 63 && c.ctx.Err() != nil { // what is damaged may cover an address thousands of times
			return nil, c.ctx.Err()
		}
		s := LocationRange{Start: c.cuts[i], End: c.cuts[i+1]}
		if c.l != nil {
			if err := c.l.locate(c.ctx, s.Start, &s.Location); err != nil {
				return nil, err
			}
		}
		if s.Kind == "" {
			if n, ok := contributionAt(strays[first:last], s.Start); ok {
				l, err := c.other(strays[first+n].module)
				if err != nil {
					return nil, err
				}
				if err := l.locate(c.ctx, s.Start, &s.Location); err != nil {
					return nil, err
				}
			}
		}
		if n := len(out); n > 0 && out[n-1].goesOn(&s) {
			out[n-1].End = s.End
			continue
		}
		if c.w.frames.Add(int64(len(s.Inlines))) > framesTogether {
			return nil, fail(CodeCorrupt, -1, 0,
				"inlined calls at %#x and around it are nested too deep and change too often", s.Start)
		}
		out = append(out, s)
	}
	return out, nil
}

// other returns the locator of a module that has strays.
func (c *cutter) other(number uint32) (*locator, error) {
	if l, ok := c.others[number]; ok {
		return l, nil
	}
	m, err := c.w.f.loadModule(c.ctx, int(number), nil)
	if err != nil {
		return nil, err
	}
	if c.others == nil || len(c.others) > 64 { // those that come next are rarely those that came before
		c.others = map[uint32]*locator{}
	}
	c.others[number] = &locator{m: m}
	return c.others[number], nil
}

func (c *cutter) add(a area, at uint32) {
	if at > a.start && at < a.end {
		c.cuts = append(c.cuts, at)
	}
}

// cutModule adds all addresses of an area at which a module may say something else.
func (c *cutter) cutModule(m *module, a area) error {
	n := sort.Search(len(m.procs), func(i int) bool { return m.procs[i].reach > a.start })
	for ; n < len(m.procs) && m.procs[n].start < a.end; n++ {
		p := &m.procs[n]
		if p.end <= a.start {
			continue
		}
		c.add(a, p.start)
		c.add(a, p.end)
		in, err := m.inlinesOf(c.ctx, p)
		if err != nil {
			return err
		}
		for _, r := range in.ranges {
			c.add(a, r.start)
			c.add(a, r.end)
		}
	}
	n = sort.Search(len(m.blocks), func(i int) bool { return m.blocks[i].reach > a.start })
	for ; n < len(m.blocks) && m.blocks[n].start < a.end; n++ {
		b := &m.blocks[n]
		if b.end <= a.start {
			continue
		}
		c.add(a, b.start)
		c.add(a, b.end)
		for _, e := range b.entries() {
			c.add(a, e.start)
		}
	}
	return nil
}
