package allocations

import (
	"iter"
	"slices"
)

// Samples adds up what rows have outstanding at evenly spaced instants, by site: From + i × (To − From) / (n − 1).
// Rows come in any order.
type Samples struct {
	At []TraceTime // the instants, ns since the trace's start, ascending
	// changes has len(At)+1 elements for each site: by how much each instant differs from the one before.
	changes []Usage
	// IgnoreExit takes an allocation that ended with its process as never freed.
	IgnoreExit bool
	perTime    float64 // instants in a ns
}

// NewSamples makes Samples at n instants, two at least, for rows with the given number of sites. It takes 16 bytes for
// each site and instant.
func NewSamples(from, to int64, n, sites int) *Samples {
	n = max(n, 2)
	step := float64(uint64(to)-uint64(from)) / float64(n-1)
	return &Samples{At: Instants(from, to, n), changes: make([]Usage, (n+1)*sites), perTime: 1 / max(step, 1)}
}

// AddRows takes rows: Samples are a Sink. Rows of sites they were not made for are an error.
func (s *Samples) AddRows(rows []Row) error {
	width := len(s.At) + 1
	for i := range rows {
		r := &rows[i]
		base := uint64(r.Site) * uint64(width)
		if base >= uint64(len(s.changes)) {
			return failure(CodeSite, nil, "a row of a site that the samples were not made for")
		}
		if r.UnknownFree {
			continue
		}
		free := r.FreeTime
		if s.IgnoreExit && r.End == EndExit {
			free = Never
		}
		begin, end := s.first(r.AllocTime), s.first(free)
		if begin == end {
			continue // seen by no instant
		}
		site := s.changes[base : base+uint64(width)]
		count, size := int64(r.count()), int64(r.Size)
		site[begin].Count += count
		site[begin].Bytes += size
		site[end].Count -= count
		site[end].Bytes -= size
	}
	return nil
}

// first is the first instant not before t, or len(At).
func (s *Samples) first(t int64) int {
	if t <= s.At[0] {
		return 0
	}
	if t > s.At[len(s.At)-1] {
		return len(s.At)
	}
	i := min(int(float64(uint64(t)-uint64(s.At[0]))*s.perTime), len(s.At)-1) // but for rounding
	for i > 0 && s.At[i-1] >= t {
		i--
	}
	for s.At[i] < t {
		i++
	}
	return i
}

// Site is what a site has outstanding at each instant of At, in that order.
func (s *Samples) Site(site int) []Usage {
	return slices.AppendSeq(make([]Usage, 0, len(s.At)), s.Each(site))
}

// Each is Site without a list.
func (s *Samples) Each(site int) iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		width := len(s.At) + 1
		var sum Usage
		for _, change := range s.changes[site*width:][:len(s.At)] {
			if sum = sum.Add(change); !yield(sum) {
				return
			}
		}
	}
}
