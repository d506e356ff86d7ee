package run

import (
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// PageLinks shows which pages the pager names.
var PageLinks = pageLinks

// A Choice is the choice of snapshots on the page of a series.
type Choice struct {
	From, To int
	Presets  []Preset
	Brush    [4]float64
}

// A Preset is one that the page offers, and what its address selects.
type Preset struct {
	Text     string
	Selected query.Snapshots
}

// ChooseSnapshots is the choice for a series of n snapshots of which a part is selected; nil for no choice.
func ChooseSnapshots(n int, selected query.Range) *Choice {
	r := &analysis.Report{Snapshots: make([]analysis.Snapshot, n)}
	c := chooseSnapshots(listing{more: query.Selection{Snapshots: selected}}, r, marksOf(r))
	if c == nil {
		return nil
	}
	b := c.brush()
	out := &Choice{From: c.chosen.From, To: c.chosen.To, Brush: [4]float64{b.before, b.left, b.right, b.behind}}
	for _, p := range c.presets() {
		l := c.between(p.from, p.to)
		out.Presets = append(out.Presets, Preset{p.text, l.more.Part(n)})
	}
	return out
}

// ListingURL is the address of a listing with a selection.
func ListingURL(more query.Selection) string {
	return string(listing{run: 1, order: "growth", view: viewRanked, open: -1, more: more}.url())
}
