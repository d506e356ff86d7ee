package run

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

// The plot is drawn 1,000 wide and stretched to its place; heights are pixels.
const (
	plotWidth  = 1000.0
	plotHeight = 150.0
	plotTop    = 9.0
	plotInset  = 14.0  // keeps the first and the last mark off the edges
	barAt      = 110.0 // middle of the bar that a single snapshot is
	barWidth   = 140.0
)

// chartSites is how many sites, those that grew most, are told apart from the rest. They come in one short read of
// the table by its key, whatever its size.
const chartSites = 200

// A chart is the outstanding memory of a process at its snapshots, ready to draw.
type snapshotChart struct {
	layers []layer // the lowest first
	line   string  // path along the top of all layers
	marks  []mark
	grid   []gridLine
	times  []label // below the axis
	notes  []label // on the layers
	name   string  // what the drawing says, for those who do not see it
}

// A layer is memory of one class.
type layer struct{ class, name, path string }

// A mark is one snapshot.
type mark struct {
	x, y       float64
	number     int // label on top, 0 for none
	atEnd      bool
	title      string
	lowerBound bool
	from, to   float64 // band of a snapshot that is a lower bound
}

type gridLine struct {
	y    float64
	text string
}

type label struct {
	x, y  float64
	text  string
	class string
}

// newChart draws a report, with bands of what its signatures are.
func newSnapshotChart(r *analysis.Report, bands []band) snapshotChart {
	var c snapshotChart
	totals := make([]float64, len(r.Snapshots))
	highest := 1.0
	for i, s := range r.Snapshots {
		totals[i] = float64(max(0, s.Bytes))
		highest = max(highest, totals[i])
	}
	x, timed := positions(r.Snapshots)
	ceiling := c.drawGrid(highest)
	y := func(bytes float64) float64 { return plotHeight * (1 - bytes/ceiling) }
	c.drawLayers(r, bands, totals, x, y)
	for i, s := range r.Snapshots {
		c.marks = append(c.marks, mark{x: x[i], y: y(totals[i]), title: snapshotTitle(i, s), lowerBound: s.LowerBound})
	}
	c.numberMarks()
	if timed {
		c.drawTimes(time.Duration(r.Snapshots[len(x)-1].AtNS), x)
	} else {
		c.drawNumbers(x, "snapshot")
	}
	c.name = chartName(r)
	return c
}

// marksOf are the places of a report's snapshots along the chart.
func marksOf(r *analysis.Report) []mark {
	x, _ := positions(r.Snapshots)
	list := make([]mark, len(x))
	for i := range x {
		list[i].x = x[i]
	}
	return list
}

// noteGrowth says in a layer between two edges how much it grew, where it is thick enough to write on.
func (c *snapshotChart) noteGrowth(bottom, top, x []float64, y func(float64) float64) {
	last := len(top) - 1
	grown := top[last] - bottom[last] - (top[0] - bottom[0])
	if thick := y(bottom[last]) - y(top[last]); thick < 34 || grown <= 0 {
		return
	}
	c.notes = append(c.notes,
		label{x: x[last] - 10, y: y(bottom[last]) - 7, text: "+" + quantity.Bytes(int64(grown)), class: "on-fill y"})
}

type point struct{ x, y float64 }

// points are the corners along values. A single instant becomes a bar.
func points(x, values []float64, y func(float64) float64) []point {
	if len(x) == 1 {
		return []point{{x[0] - barWidth/2, y(values[0])}, {x[0] + barWidth/2, y(values[0])}}
	}
	list := make([]point, len(x))
	for i := range x {
		list[i] = point{x[i], y(values[i])}
	}
	return list
}

func outline(edge []point) string {
	var b strings.Builder
	for i, p := range edge {
		b.WriteString(map[bool]string{true: "M", false: " L"}[i == 0])
		b.WriteString(coordinate(p.x) + " " + coordinate(p.y))
	}
	return b.String()
}

// area is the shape between two edges.
func area(upper, lower []point) string {
	back := make([]point, 0, len(lower))
	for i := len(lower) - 1; i >= 0; i-- {
		back = append(back, lower[i])
	}
	return outline(append(append([]point{}, upper...), back...)) + "Z"
}

func coordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func snapshotTitle(i int, s analysis.Snapshot) string {
	title := fmt.Sprintf("Snapshot %d", i+1)
	if s.TakenAt != "" {
		title += ", " + localTime(s.TakenAt)
	}
	title += fmt.Sprintf(": %s in %s", ui.ExactBytes(s.Bytes), quantity.Plural(s.Count, "block"))
	if s.LowerBound {
		title += " (lower bound: the evidence ends early)"
	}
	return title + " (" + s.File + ")"
}

// chartName says what the chart shows in words.
func chartName(r *analysis.Report) string {
	first, last := r.Snapshots[0], r.Snapshots[len(r.Snapshots)-1]
	if len(r.Snapshots) == 1 {
		return fmt.Sprintf("Held memory at one snapshot: %s in %s.", quantity.Bytes(first.Bytes),
			quantity.Plural(first.Count, "block"))
	}
	return fmt.Sprintf("Held memory over %d snapshots: %s in %s at the first, %s in %s at the last.",
		len(r.Snapshots),
		quantity.Bytes(first.Bytes), quantity.Plural(first.Count, "block"), quantity.Bytes(last.Bytes),
		quantity.Plural(last.Count, "block"))
}

// sparkline is the path of a site's bytes over the snapshots, 64 wide and 17 high.
func sparkline(series []int64) string {
	highest := int64(1)
	for _, v := range series {
		highest = max(highest, v)
	}
	edge := make([]point, 0, max(2, len(series)))
	for i, v := range series {
		edge = append(edge, point{64 * float64(i) / float64(max(1, len(series)-1)),
			16 - 15*float64(max(0, v))/float64(highest)})
	}
	if len(edge) == 1 {
		edge = append(edge, point{64, edge[0].y})
	}
	return outline(edge)
}
