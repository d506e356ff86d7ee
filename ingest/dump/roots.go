package dump

import (
	"slices"

	"heapdrift/ingest/minidump"
)

// roots is the memory that pointers to blocks are looked for in first: everything that is not part of a heap. Of images and of
// mapped files only pages that can be written to hold pointers that the program stored; of stacks what lies above the stack
// pointer is in use. Where the dump does not say what pages are, all of them are taken.
func (p *process) roots(heaps []mark) []span {
	var list []span
	skip := make([]span, 0, len(heaps)+len(p.stacks))
	for _, h := range heaps {
		skip = append(skip, h.span)
	}
	for _, s := range p.stacks {
		if s.top > s.limit { // what lies below is of calls that have returned
			skip = append(skip, span{s.reservation.address, s.top - s.reservation.address})
		}
	}
	slices.SortFunc(skip, compareSpans)
	for _, r := range p.memory.Ranges() {
		list = append(list, span{r.Address, r.Size})
	}
	if len(p.regions) > 0 {
		list = intersect(list, p.writable())
	}
	return without(list, skip)
}

// writable are the regions that the program can have stored pointers in.
func (p *process) writable() []span {
	var list []span
	for _, r := range p.regions {
		if r.State == minidump.MemCommit && (r.Protect.Writable() || r.Type == minidump.MemPrivate) {
			list = append(list, span{r.Base, r.Size})
		}
	}
	return list
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
