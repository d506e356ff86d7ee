package query

import "heapdrift/internal/analysis"

// Snapshots are the selected part of a series: from snapshot From to snapshot To, both included and counted from 1.
type Snapshots struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Part returns which of n snapshots are selected. Numbers beyond n stand for the last.
func (s *Selection) Part(n int) Snapshots {
	part := Snapshots{1, n}
	if from := s.Snapshots.From; from > 0 {
		part.From = int(min(from, uint64(n)))
	}
	if to := s.Snapshots.To; to > 0 {
		part.To = int(min(max(to, uint64(part.From)), uint64(n)))
	}
	return part
}

// IsAll reports whether these are all snapshots of a series of n.
func (p Snapshots) IsAll(n int) bool { return p == Snapshots{1, n} }

// snapshots is the part of a series that is selected; nil for all of it, and for a trace, which has none.
func (s *Selection) snapshots(r *analysis.Report) *Snapshots {
	part := s.Part(len(r.Snapshots))
	if part.IsAll(len(r.Snapshots)) || r.Trace != nil {
		return nil
	}
	return &part
}

// amounts is what a site holds in the last of the snapshots, and what it grew by since the first of them; of one alone
// nothing grew. It is false where the site holds nothing in any of them.
func (p *Snapshots) amounts(site *analysis.Site) (a analysis.Amounts, held bool) {
	if len(site.Series) < p.To {
		return a, false
	}
	for _, point := range site.Series[p.From-1 : p.To] {
		held = held || point.Amount != analysis.Amount{}
	}
	first, last := site.Series[p.From-1], site.Series[p.To-1]
	a.Outstanding = last.Amount
	if p.To > p.From {
		a.Growth = &analysis.Amount{Count: last.Count - first.Count, Bytes: last.Bytes - first.Bytes}
	}
	return a, held
}
