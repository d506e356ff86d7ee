package query

import "heapdrift/internal/analysis"

// Snapshots are those of a series that are selected: from one to another, by their numbers from 1.
type Snapshots struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// snapshots is the part of a series that is selected; nil for all of it. The selection is checked.
func (s *Selection) snapshots(r *analysis.Report) *Snapshots {
	n := len(r.Snapshots)
	part := Snapshots{max(1, int(s.Snapshots.From)), n}
	if to := int(s.Snapshots.To); to > 0 {
		part.To = to
	}
	if part.From == 1 && part.To == n || r.Trace != nil {
		return nil
	}
	return &part
}

// amounts is what a site holds in the last of the snapshots, and what it grew by since the first of them; of one alone nothing grew. It
// is false where the site holds nothing in any of them.
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
