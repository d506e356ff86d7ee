package run

import (
	"fmt"
	"slices"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
)

// A band is memory of some classes at each snapshot, in bytes.
type band struct {
	class, name string
	values      []float64
}

// bandsOfClasses are what a chart tells apart, the lowest first: what leaks lies on top.
var bandsOfClasses = []struct {
	class, name string
	classes     []analysis.Class
}{
	{"stable", "did not change", []analysis.Class{analysis.ClassStable, analysis.ClassUnknown}},
	{"one-time", "one-time", []analysis.Class{analysis.ClassOneTime}},
	{"cache", "cache", []analysis.Class{analysis.ClassCache}},
	{"transient", "transient", []analysis.Class{analysis.ClassTransient}},
	{"growing", "growing",
		[]analysis.Class{analysis.ClassGrowing, analysis.ClassLeftAtExit, analysis.ClassUnreferenced,
			analysis.ClassGrowingBlock}},
	{"leak", "leak", []analysis.Class{analysis.ClassLeak}},
}

// bandsOf are the bands of a run, of one kind of memory or of all, by what each of its signatures is.
func bandsOf(x *query.Index, kind string, instants int) (list []band) {
	series := x.ClassSeries(kind)
	for _, b := range bandsOfClasses {
		sum, holds := make([]float64, instants), false
		for _, class := range b.classes {
			for k, bytes := range series[class] {
				sum[k] += float64(max(0, bytes))
				holds = holds || bytes > 0
			}
		}
		if holds {
			list = append(list, band{b.class, b.name, sum})
		}
	}
	return list
}

// bandsOfTop are the same of the sites that grew most, where the others are not at hand.
func bandsOfTop(top []store.SiteRow, kind string, instants int) (list []band) {
	for _, b := range bandsOfClasses[len(bandsOfClasses)-2:] {
		sum, sites := make([]float64, instants), 0
		for _, s := range top {
			if !slices.Contains(b.classes, analysis.Class(s.Verdict)) || kind != "" && s.Kind != kind {
				continue
			}
			sites++
			for k := range min(len(s.Series), instants) {
				sum[k] += float64(max(0, s.Series[k]))
			}
		}
		name := b.name
		if sites == chartSites {
			name = fmt.Sprintf("%s, among the %d sites with most growth", name, sites)
		}
		if sites > 0 {
			list = append(list, band{b.class, name, sum})
		}
	}
	return list
}

// drawLayers stacks bands. What the totals have beyond them lies at the bottom.
func (c *snapshotChart) drawLayers(r *analysis.Report, bands []band, totals, x []float64, y func(float64) float64) {
	edges := func(values []float64) []point { return points(x, values, y) }
	last := len(totals) - 1
	c.line = outline(edges(totals))
	if last == 0 {
		c.layers = []layer{{"unknown", "outstanding", area(edges(totals), edges(make([]float64, 1)))}}
	} else {
		bottom := slices.Clone(totals)
		for _, b := range bands {
			for k, v := range b.values {
				bottom[k] -= v
			}
		}
		beyond := false
		for k := range bottom {
			bottom[k] = max(0, bottom[k])
			beyond = beyond || bottom[k] > totals[k]/1000
		}
		if beyond || len(bands) == 0 {
			c.layers = append(c.layers,
				layer{"unknown", "other sites", area(edges(bottom), edges(make([]float64, len(totals))))})
		}
		for _, b := range bands {
			top := make([]float64, len(totals))
			for k := range top {
				top[k] = min(totals[k], bottom[k]+b.values[k])
			}
			c.layers = append(c.layers, layer{b.class, b.name, area(edges(top), edges(bottom))})
			if b.class == "leak" || b.class == "growing" {
				c.noteGrowth(bottom, top, x, y)
			}
			bottom = top
		}
	}
	held := quantity.Bytes(r.Snapshots[last].Bytes) + " held"
	if last == 0 {
		beside := x[0] + barWidth/2 + 24
		c.notes = append(c.notes, label{x: beside, y: 84, text: held + " at one snapshot", class: "strong"},
			label{x: beside, y: 102, text: "growth takes a second snapshot"})
		return
	}
	c.notes = append(c.notes, label{x: x[last] - 10, y: max(22, y(totals[last])-8), text: held, class: "strong y"})
}
