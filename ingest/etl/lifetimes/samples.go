package lifetimes

import (
	"math"
	"sort"
)

// Samples adds up what rows have outstanding at evenly spaced instants, by site: From + i × (To − From) / (n − 1).
// Rows come in any order.
type Samples struct {
	At []int64
	// changes has len(At)+1 elements for each site: by how much each instant differs from the one before.
	changes []Usage
	// BeforeExit takes what ended with its process as alive to the end.
	BeforeExit bool
}

// NewSamples makes Samples at n instants, two at least, for rows with the given number of sites. It takes 16 bytes for
// each site and instant.
func NewSamples(from, to int64, n, sites int) *Samples {
	n = max(n, 2)
	at := make([]int64, n)
	step := float64(to-from) / float64(n-1)
	for i := range at {
		at[i] = from + int64(math.Round(step*float64(i)))
	}
	at[n-1] = to
	return &Samples{At: at, changes: make([]Usage, (n+1)*sites)}
}

// Rows takes rows: Samples are a Sink. Rows of sites they were not made for are an error.
func (s *Samples) Rows(rows []Row) error {
	width := len(s.At) + 1
	for i := range rows {
		r := &rows[i]
		base := uint64(r.Site) * uint64(width)
		if base >= uint64(len(s.changes)) {
			return &Error{Code: CodeSite, Message: "a row of a site that the samples were not made for"}
		}
		if r.Unknown {
			continue
		}
		free := r.FreeTime
		if s.BeforeExit && r.End == EndExit {
			free = Never
		}
		u := Usage{1, int64(r.Size)}
		if r.Part {
			u.Count = 0
		}
		site := s.changes[base : base+uint64(width)]
		begin, end := s.first(r.AllocTime), s.first(free)
		site[begin] = site[begin].Add(u)
		site[end] = site[end].Sub(u)
	}
	return nil
}

// first is the first instant not before t, or len(At).
func (s *Samples) first(t int64) int {
	return sort.Search(len(s.At), func(i int) bool { return s.At[i] >= t })
}

// Site is what a site has outstanding at each instant.
func (s *Samples) Site(site int) []Usage {
	width := len(s.At) + 1
	out := make([]Usage, len(s.At))
	var sum Usage
	for i := range out {
		sum = sum.Add(s.changes[site*width+i])
		out[i] = sum
	}
	return out
}
