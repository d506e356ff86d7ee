package dump

import (
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/sorting"
)

// roots is the memory in which pointers to blocks are looked for first: everything that is not part of a heap, and the
// parts of heaps that could not be walked, as blocks may lie there. Of mapped files it takes the pages that can be
// written to, because only those hold pointers of the program. Of images it takes all pages without code, because some
// are written to and protected afterwards. Of stacks it takes what lies above the stack pointer. Where the dump does
// not say what pages are, it takes all of them.
func (p *process) roots(heaps []mark, gaps []span) []span {
	var skip []span
	for _, h := range heaps {
		skip = append(skip, h.span)
	}
	sorting.Unstable(skip, compareSpans)
	sorting.Unstable(gaps, compareSpans)
	skip = without(skip, gaps)
	for _, s := range p.stacks {
		if s.top > s.limit { // what lies below is of calls that have returned
			skip = append(skip, span{s.reservation.address, s.top - s.reservation.address})
		}
	}
	sorting.Unstable(skip, compareSpans)
	list := p.present()
	if len(p.regions) > 0 {
		list = intersect(list, p.regionsWith(func(r *minidump.Region) bool {
			return r.Protect.Writable() || r.Type == minidump.MemPrivate || r.Type == minidump.MemImage && !isCode(r.Protect)
		}))
	}
	return without(list, skip)
}

// present is the memory that is in the dump, by address.
func (p *process) present() []span {
	ranges := p.memory.Ranges()
	list := make([]span, len(ranges))
	for i, r := range ranges {
		list[i] = span{r.Address, r.Size}
	}
	return list
}

// regionsWith are the committed regions of a kind.
func (p *process) regionsWith(is func(*minidump.Region) bool) (list []span) {
	for i := range p.regions {
		if r := &p.regions[i]; r.State == minidump.MemCommit && is(r) {
			list = append(list, span{r.Base, r.Size})
		}
	}
	return list
}

// lost counts the memory that the program can have stored pointers in and that is not in the dump, and of it that of
// images, where its variables lie.
func (p *process) lost() (all, images uint64) {
	sum := func(spans []span) (bytes uint64) {
		for _, s := range spans {
			bytes += s.size
		}
		return bytes
	}
	present := p.present()
	if len(p.regions) == 0 { // the images say where variables are
		for _, m := range p.images() {
			if len(intersect([]span{m}, present)) == 0 {
				images += m.size
			}
		}
		return images + uint64(p.memory.MissingBytes()), images
	}
	all = sum(without(p.regionsWith(func(r *minidump.Region) bool { return r.Protect.Writable() }), present))
	images = sum(without(p.regionsWith(func(r *minidump.Region) bool {
		return r.Protect.Writable() &&
			r.Type == minidump.MemImage
	}), present))
	return all, images
}

func compareSpans(a, b span) int {
	switch {
	case a.address < b.address:
		return -1
	case a.address > b.address:
		return 1
	}
	return 0
}

// intersect is what two sorted lists of spans have in common.
func intersect(a, b []span) (list []span) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		from, to := max(a[i].address, b[k].address), min(a[i].end(), b[k].end())
		if from < to {
			list = append(list, span{from, to - from})
		}
		if a[i].end() <= b[k].end() {
			i++
		} else {
			k++
		}
	}
	return list
}

// without takes sorted spans, which may overlap, out of a sorted list.
func without(from, cut []span) (list []span) {
	k := 0
	for _, s := range from {
		for k < len(cut) && cut[k].end() <= s.address {
			k++
		}
		at := s.address
		for i := k; i < len(cut) && cut[i].address < s.end(); i++ {
			if cut[i].address > at {
				list = append(list, span{at, cut[i].address - at})
			}
			at = max(at, cut[i].end())
		}
		if at < s.end() {
			list = append(list, span{at, s.end() - at})
		}
	}
	return list
}
