package run

import (
	"slices"
	"sort"

	"heapdrift/internal/analysis"
)

// A timeBand is memory of some classes as time goes on: at the instants of the report, and in between on the way from
// one to the next.
type timeBand struct {
	class, name string
	at          []int64 // ns
	bytes       []float64
}

// growing are the bands of what leaks or grows, the highest first. The rest changes too fast for the instants of the
// report.
func (c *timeChart) growing(r *analysis.Report, bands []band) (list []timeBand) {
	var at []int64
	for _, s := range r.Snapshots {
		at = append(at, s.AtNS)
	}
	for _, b := range slices.Backward(bands) {
		if b.class != "leak" && b.class != "growing" {
			continue
		}
		band := timeBand{b.class, b.name, at, b.values}
		if exit := r.Trace.ExitedNS; exit != nil { // it holds what it held until then
			n := sort.Search(len(at), func(i int) bool { return at[i] >= *exit })
			band.at, band.bytes = at[:n], b.values[:n]
		}
		if len(band.at) > 0 {
			list = append(list, band)
		}
	}
	return list
}

// holds is what a band has at a time.
func (b *timeBand) holds(at int64) float64 {
	i := sort.Search(len(b.at), func(i int) bool { return b.at[i] > at })
	if i == 0 || i == len(b.at) {
		return b.bytes[max(0, i-1)]
	}
	part := float64(at-b.at[i-1]) / float64(b.at[i]-b.at[i-1])
	return b.bytes[i-1] + part*(b.bytes[i]-b.bytes[i-1])
}

// layersOf are the areas below a line: what leaks and grows on top, the rest below it.
func (c *timeChart) layersOf(line analysis.Timeline, bands []timeBand, y func(int64) float64,
	height float64) (list []layer) {
	rest := analysis.Timeline{AtNS: line.AtNS, LastBytes: slices.Clone(line.LastBytes), MaxBytes: line.LastBytes}
	for i := range bands {
		list = append(list, layer{"a-" + bands[i].class, bands[i].name, c.closed(c.steps(rest, y, false), height)})
		for k, at := range rest.AtNS {
			rest.LastBytes[k] = max(0, rest.LastBytes[k]-int64(bands[i].holds(at)))
		}
	}
	return append(list, layer{"t-area", "the rest", c.closed(c.steps(rest, y, false), height)})
}

// A legendLine says what an area of the chart is.
type legendLine struct{ class, name, title string }

// legend are the areas of the chart, each once, what leaks first.
func (c timeChart) legend() (list []legendLine) {
	for _, class := range []string{"a-leak", "a-growing"} {
		for _, lane := range c.lanes {
			if at := slices.IndexFunc(lane.layers, func(l layer) bool { return l.class == class }); at >= 0 {
				list = append(list, legendLine{class, lane.layers[at].name,
					"measured at the marked times, straight lines between"})
				break
			}
		}
	}
	rest := legendLine{"t-area", "all", "held memory over time"}
	if len(list) > 0 {
		rest.name = "the rest"
	}
	return append(list, rest)
}
