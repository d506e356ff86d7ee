package debugdiag

import "heapdrift/ingest/capture"

// exact finds sizes that other figures state exactly: a size that is stated for each block, or one block whose sample
// tells it.
func (f *function) exact() {
	if f.count < 0 {
		return
	}
	var blocks, bytes int64
	for each, n := range f.sizes {
		if n > f.count-blocks || each > maxSize/max(f.count, 1) {
			return
		}
		blocks, bytes = blocks+n, bytes+n*each
	}
	if blocks == f.count && blocks > 0 {
		f.bytes.refine(bytes)
	}
	if f.count == 1 && len(f.samples) == 1 {
		if s := f.samples[0].size; s != (span{}) && s.margin() == 0 {
			f.bytes.refine(s.at)
		}
	}
}

// refine takes an exact size in place of one that would be printed so.
func (s *span) refine(exact int64) {
	if *s != (span{}) && s.low <= exact && exact <= s.high {
		*s = span{exact, exact, exact}
	}
}

// A sum is a size and the sizes that make it up.
type sum struct {
	what  string
	total *span
	parts []*span
}

// known reports whether all figures of a sum were printed.
func (s *sum) known() bool {
	if *s.total == (span{}) {
		return false
	}
	for _, p := range s.parts {
		if *p == (span{}) {
			return false
		}
	}
	return len(s.parts) > 0
}

// parted sums the bounds of the parts.
func (s *sum) parted() (low, high int64) {
	for _, p := range s.parts {
		low, high = min(low+p.low, maxTotal), min(high+p.high, maxTotal)
	}
	return low, high
}

// fits reports whether the parts may make up the total.
func (s *sum) fits() bool {
	low, high := s.parted()
	return low <= s.total.high && s.total.low <= high
}

// narrow draws the bounds of each figure as close as the others allow, and reports whether any moved.
func (s *sum) narrow() bool {
	low, high := s.parted()
	moved := s.total.within(low, high)
	for _, p := range s.parts {
		was := *p
		if p.within(s.total.low-(high-was.high), s.total.high-(low-was.low)) {
			moved = true
			low, high = low+p.low-was.low, high+p.high-was.high
		}
	}
	return moved
}

// within cuts the bounds of a size to those given, if any size is left.
func (s *span) within(low, high int64) bool {
	low, high = max(s.low, low), min(s.high, high)
	if low > high || low == s.low && high == s.high {
		return false
	}
	s.low, s.high = low, high
	s.at = min(max(s.at, low), high)
	return true
}

// rounds bounds how often sums are gone through: each makes the bounds of the next one closer, by less and less.
const rounds = 3

// reconcile brings the printed figures together: modules make up the whole, functions their module. It narrows the
// bounds of sizes, and warns of those that cannot be.
func (d *draft) reconcile() {
	for i := range d.functions {
		d.functions[i].exact()
	}
	sums := d.sums()
	n := 0
	for i := range sums {
		if s := &sums[i]; s.known() {
			if !s.fits() {
				d.warn(capture.Inconsistent, 1, "the sizes of %s do not make up its size", s.what)
				continue
			}
			sums[n] = *s
			n++
		}
	}
	for range rounds {
		moved := false
		for i := range sums[:n] {
			moved = sums[i].narrow() || moved
		}
		if !moved {
			return
		}
	}
}

// sums are the sums that the report states and whose counts add up, as they do where nothing is left out. It warns of
// the others.
func (d *draft) sums() []sum {
	var sums []sum
	all := sum{what: "the modules", total: &d.total.size}
	var allocations, handles int64
	memoryModules, handleModules := 0, 0
	members := make([][]*function, len(d.modules))
	for i := range d.functions {
		if f := &d.functions[i]; f.module >= 0 {
			members[f.module] = append(members[f.module], f)
		}
	}
	for i := range d.modules {
		m := &d.modules[i]
		if m.handles {
			handles, handleModules = handles+min(max(m.count, 0), maxCount), handleModules+1
		} else {
			allocations, memoryModules = allocations+min(max(m.count, 0), maxCount), memoryModules+1
			all.parts = append(all.parts, &m.bytes)
		}
		own := sum{what: "the functions of " + m.name, total: &m.bytes}
		count := int64(0)
		for _, f := range members[i] {
			count += min(max(f.count, 0), maxCount)
			if !f.handles {
				own.parts = append(own.parts, &f.bytes)
			}
		}
		switch {
		case len(members[i]) == 0:
		case m.count >= 0 && count != m.count:
			d.warn(capture.Inconsistent, 1, "The functions of %s have %d allocations or handles, the module %d.", m.name,
				count, m.count)
		case !m.handles:
			sums = append(sums, own)
		}
	}
	switch t := &d.total; {
	case memoryModules == 0:
		if t.count >= 0 && t.byModule > t.count {
			d.warn(capture.Inconsistent, 1, "The modules have %d allocations, the report %d.", t.byModule, t.count)
		}
	case t.count >= 0 && allocations != t.count:
		d.warn(capture.Inconsistent, 1, "The modules have %d allocations, the report %d.", allocations, t.count)
	default:
		sums = append(sums, all)
	}
	if t := &d.total; t.handles >= 0 {
		for _, n := range []struct {
			what  string
			count int64
			known bool
		}{{"modules", handles, handleModules > 0}, {"modules in the graph", t.byHandles, t.byHandles > t.handles},
			{"types", t.byType, t.byType >= 0}} {
			if n.known && n.count != t.handles {
				d.warn(capture.Inconsistent, 1, "The %s have %d handles, the report %d.", n.what, n.count, t.handles)
			}
		}
	}
	return sums
}
