package lifetimes

import (
	"slices"
	"sort"
)

// An interval is the addresses [base, end) with a number that says whose they are.
type interval struct {
	base, end uint64
	value     uint32
}

// intervals is a sorted set of intervals that do not overlap, in runs of limited length: inserting moves at most a run
// and, seldom, the list of runs.
type intervals struct {
	runs [][]interval // none empty
}

// runLength is where a run is split in two.
const runLength = 256

// seek is the place of the first interval that ends behind address.
func (s *intervals) seek(address uint64) (run, i int) {
	run = sort.Search(len(s.runs), func(r int) bool { return s.runs[r][len(s.runs[r])-1].end > address })
	if run == len(s.runs) {
		return run, 0
	}
	r := s.runs[run]
	return run, sort.Search(len(r), func(i int) bool { return r[i].end > address })
}

// find is the interval that holds the address.
func (s *intervals) find(address uint64) (*interval, bool) {
	run, i := s.seek(address)
	if run == len(s.runs) || s.runs[run][i].base > address {
		return nil, false
	}
	return &s.runs[run][i], true
}

// overlapping calls f for every interval that shares an address with [base, end); f must not change the set.
func (s *intervals) overlapping(base, end uint64, f func(*interval)) {
	for run, i := s.seek(base); run < len(s.runs); run, i = run+1, 0 {
		for ; i < len(s.runs[run]); i++ {
			if s.runs[run][i].base >= end {
				return
			}
			f(&s.runs[run][i])
		}
	}
}

// insert adds an interval that overlaps none.
func (s *intervals) insert(v interval) {
	run, i := s.seek(v.base)
	switch {
	case len(s.runs) == 0:
		s.runs = [][]interval{{v}}
		return
	case run == len(s.runs):
		run--
		i = len(s.runs[run])
	}
	r := slices.Insert(s.runs[run], i, v)
	s.runs[run] = r
	if len(r) < runLength {
		return
	}
	half := len(r) / 2
	s.runs[run] = r[:half:half]
	s.runs = slices.Insert(s.runs, run+1, slices.Clone(r[half:]))
}

// remove takes [base, end) out. For every piece that goes, gone is called with the piece and by how much the number of
// intervals of its value changes: −1 where it was a whole interval, 0 where an end of one, +1 where it came out of the
// middle. It reports whether there was any.
func (s *intervals) remove(base, end uint64, gone func(piece interval, change int)) (found bool) {
	if base >= end {
		return false
	}
	for run, i := s.seek(base); run < len(s.runs); {
		r := s.runs[run]
		first := i
		for i < len(r) && r[i].base < end {
			found = true
			v := &r[i]
			piece := interval{max(v.base, base), min(v.end, end), v.value}
			switch head, tail := v.base < base, v.end > end; {
			case head && tail:
				rest := interval{end, v.end, v.value}
				v.end = base
				s.insert(rest)
				gone(piece, +1)
				return true
			case head:
				v.end = base
				gone(piece, 0)
				first = i + 1
			case tail:
				v.base = end
				gone(piece, 0)
				s.cut(run, first, i)
				return true
			default:
				gone(piece, -1)
			}
			i++
		}
		more := i == len(r)
		if !s.cut(run, first, i) {
			run++
		}
		if !more {
			return found
		}
		i = 0
	}
	return found
}

// cut deletes a stretch of a run, and the run if nothing is left of it; it reports whether the run went.
func (s *intervals) cut(run, from, to int) bool {
	if r := slices.Delete(s.runs[run], from, to); len(r) > 0 {
		s.runs[run] = r
		return false
	}
	s.runs = slices.Delete(s.runs, run, run+1)
	return true
}
