package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

// unexplained is what nothing accounts for, drawn as if it were a use.
const unexplained capture.UseName = "unexplained"

// A courseChart is the memory over time, ready to draw.
type courseChart struct {
	chart
	layers   []courseLayer
	totals   []string // paths of the total, one for each life of the process
	blocks   string   // path of what blocks hold
	diamonds []mark
}

// A courseLayer is what a use has of the total; Paths are its shapes, one for each life of the process.
type courseLayer struct {
	use   capture.UseName
	paths []string
}

// tabled are the uses of a course in the order of tables. What the system has of the memory of a program is little, and told together.
var tabled = append(slices.DeleteFunc(slices.Clone(mapUses), func(u capture.UseName) bool { return u == capture.UsePEB || u == capture.UseTEB }), unexplained)

// useTitle names a use, and what is unexplained.
func useTitle(use capture.UseName) string {
	if use == unexplained {
		return "Unexplained"
	}
	return legendWord(use)
}

// bytesOfUse is what a use has at an instant.
func bytesOfUse(at *analysis.Instant, use capture.UseName) int64 {
	switch {
	case use == capture.UseSystem:
		return at.Part(capture.UsePEB) + at.Part(capture.UseTEB) + at.Part(use)
	case use != unexplained:
		return at.Part(use)
	case at.Unexplained == nil:
		return 0
	}
	return *at.Unexplained
}

// toldOfUse is what a use has at an instant; nil where the evidence does not say.
func toldOfUse(at *analysis.Instant, use capture.UseName) *int64 {
	if at.Total == nil || use == unexplained && at.Unexplained == nil || use != unexplained && len(at.Parts) == 0 {
		return nil
	}
	return new(bytesOfUse(at, use))
}

// measureTitle is what the total is called at the head of a column.
func measureTitle(c *analysis.Course) string { return strings.ToUpper(c.Measure[:1]) + c.Measure[1:] }

// courseUses are the uses that a course has anything of, in the order of tables, and what is unexplained behind them.
func courseUses(c *analysis.Course) (list []capture.UseName) {
	for _, use := range tabled {
		if slices.ContainsFunc(c.Instants, func(at analysis.Instant) bool { return bytesOfUse(&at, use) != 0 }) {
			list = append(list, use)
		}
	}
	return list
}

// newCourseChart draws a course.
func newCourseChart(c *analysis.Course) *courseChart {
	d := &courseChart{}
	x, timed := coursePositions(c)
	highest := 1.0
	for i := range c.Instants {
		highest = max(highest, heightOf(&c.Instants[i]))
		if b := c.Instants[i].Blocks; b != nil {
			highest = max(highest, float64(*b))
		}
	}
	ceiling := d.drawGrid(highest)
	y := func(bytes float64) float64 { return plotHeight * (1 - bytes/ceiling) }
	d.drawUses(c, x, y)
	d.drawBlocks(c, x, y)
	if timed {
		d.drawTimes(time.Duration(c.Instants[len(x)-1].AtNS), x)
	} else {
		d.numberMarks()
		d.drawNumbers(x)
	}
	d.name = courseName(c)
	return d
}

// coursePositions places the instants by their time, else at equal distances.
func coursePositions(c *analysis.Course) (x []float64, timed bool) {
	n := len(c.Instants)
	timed = c.Timed && c.Instants[n-1].AtNS > 0
	x = make([]float64, n)
	for i := range x {
		part := float64(i) / float64(n-1)
		if timed {
			part = float64(c.Instants[i].AtNS) / float64(c.Instants[n-1].AtNS)
		}
		x[i] = plotInset + part*(plotWidth-2*plotInset)
	}
	return x, timed
}

// heightOf is how high the layers of an instant are together: the total, or the parts where they are more.
func heightOf(at *analysis.Instant) (sum float64) {
	if at.Total == nil {
		return 0
	}
	for i := range at.Parts {
		sum += float64(max(0, at.Parts[i].Bytes))
	}
	return max(sum, float64(*at.Total))
}

// stretchesOf are the instants that tell a total, those of one life of the process together: nothing is drawn from one to the next.
func stretchesOf(c *analysis.Course) (list [][]int) {
	for i := range c.Instants {
		switch at := &c.Instants[i]; {
		case at.Total == nil:
		case len(list) > 0 && c.Instants[list[len(list)-1][0]].OtherLife == at.OtherLife:
			list[len(list)-1] = append(list[len(list)-1], i)
		default:
			list = append(list, []int{i})
		}
	}
	return list
}

// stacked are the uses from the bottom of the chart to its top: what programs allocate lies above the rest, and what is unexplained on
// top of all.
func stacked() []capture.UseName {
	list := slices.Clone(tabled[:len(tabled)-1])
	slices.Reverse(list)
	return append(list, unexplained)
}

// drawUses stacks the uses, and draws the total on top.
func (d *courseChart) drawUses(c *analysis.Course, x []float64, y func(float64) float64) {
	layers := map[capture.UseName]*courseLayer{}
	for _, instants := range stretchesOf(c) {
		at := make([]float64, len(instants))
		bottom, totals := make([]float64, len(instants)), make([]float64, len(instants))
		for k, i := range instants {
			at[k], totals[k] = x[i], float64(*c.Instants[i].Total)
			d.marks = append(d.marks, mark{x: x[i], y: y(totals[k]), title: instantTitle(c, i)})
		}
		for _, use := range stacked() {
			top := slices.Clone(bottom)
			for k, i := range instants {
				top[k] += float64(max(0, bytesOfUse(&c.Instants[i], use)))
			}
			if slices.Equal(top, bottom) {
				continue
			}
			if layers[use] == nil {
				layers[use] = &courseLayer{use: use}
			}
			layers[use].paths = append(layers[use].paths, area(barPoints(at, top, y), barPoints(at, bottom, y)))
			bottom = top
		}
		d.totals = append(d.totals, outline(barPoints(at, totals, y)))
	}
	for _, use := range slices.Backward(stacked()) {
		if l := layers[use]; l != nil {
			d.layers = append(d.layers, *l)
		}
	}
}

// instantWidth is how wide an instant is drawn that stands alone.
const instantWidth = 14.0

// barPoints are the corners along values; an instant that stands alone is a bar.
func barPoints(x, values []float64, y func(float64) float64) []point {
	if len(x) == 1 {
		return []point{{x[0] - instantWidth/2, y(values[0])}, {x[0] + instantWidth/2, y(values[0])}}
	}
	return points(x, values, y)
}

// drawBlocks draws what the blocks of heaps hold, as evidence of allocations counts them.
func (d *courseChart) drawBlocks(c *analysis.Course, x []float64, y func(float64) float64) {
	var edge []point
	for i := range c.Instants {
		if b := c.Instants[i].Blocks; b != nil {
			edge = append(edge, point{x[i], y(float64(max(0, *b)))})
			d.diamonds = append(d.diamonds, mark{x: x[i], y: y(float64(max(0, *b))), title: instantTitle(c, i)})
		}
	}
	if len(edge) > 1 {
		d.blocks = outline(edge)
	}
}

// instantTitle says what an instant tells.
func instantTitle(c *analysis.Course, i int) string {
	at := &c.Instants[i]
	var parts []string
	if at.Total != nil {
		parts = append(parts, fmt.Sprintf("%s %s", c.Measure, analysis.Bytes(*at.Total)))
	}
	for _, use := range courseUses(c) {
		if n := bytesOfUse(at, use); n != 0 {
			parts = append(parts, useTitle(use)+" "+analysis.Bytes(n))
		}
	}
	if at.Blocks != nil {
		parts = append(parts, "blocks of heaps "+analysis.Bytes(*at.Blocks))
	}
	title := strings.Join(parts, ", ") + " (" + at.File + ")"
	if at.TakenAt != "" {
		title = localMoment(at.TakenAt) + ": " + title
	}
	return title
}

// courseName says what the chart shows in words.
func courseName(c *analysis.Course) string {
	name := fmt.Sprintf("Memory over time, %s at %s.", c.Measure, ui.Counted(len(c.Instants), "instant"))
	if text := c.SayGrowth(); text != "" {
		name += " " + text
	}
	return name
}

// outlookSign is the sign before an outlook: what ends within a week is a warning.
func outlookSign(o *analysis.Outlook) string {
	if o.LeftNS != nil && time.Duration(*o.LeftNS) < 7*24*time.Hour {
		return "warn"
	}
	return "info"
}
