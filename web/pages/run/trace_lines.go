package run

import (
	"math"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// columns joins the stretches of a line that fall together when it is drawn n wide. The most of each stays the most.
func (c *timeChart) columns(t analysis.Timeline, n int) analysis.Timeline {
	size := min(len(t.AtNS), len(t.LastBytes), len(t.MaxBytes))
	out := analysis.Timeline{AtNS: make([]int64, 0, min(size, n+1)), LastBytes: make([]int64, 0, min(size, n+1)),
		MaxBytes: make([]int64, 0, min(size, n+1))}
	column := math.Inf(-1)
	for i := range size {
		at := math.Floor(c.x(t.AtNS[i]) * float64(n) / plotWidth)
		if k := len(out.AtNS) - 1; k >= 0 && at == column {
			out.LastBytes[k], out.MaxBytes[k] = t.LastBytes[i], max(out.MaxBytes[k], t.MaxBytes[i])
			continue
		}
		column = at
		out.AtNS = append(out.AtNS, t.AtNS[i])
		out.LastBytes, out.MaxBytes = append(out.LastBytes, t.LastBytes[i]), append(out.MaxBytes, t.MaxBytes[i])
	}
	return out
}

// spike is the most in stretch i of a line where that is more than was there before it and more than it leaves: else
// the steps show it already.
func spike(t analysis.Timeline, i int) (most int64, ok bool) {
	before := int64(0)
	if i > 0 {
		before = t.LastBytes[i-1]
	}
	return t.MaxBytes[i], t.MaxBytes[i] > max(before, t.LastBytes[i])
}

// steps is the path of a line: what a stretch leaves holds from its beginning to the next. With needles, spikes rise
// from where their stretch begins.
func (c *timeChart) steps(t analysis.Timeline, y func(int64) float64, needles bool) string {
	var b strings.Builder
	last := ""
	for i, v := range t.LastBytes {
		height := coordinate(y(v))
		most, isSpike := spike(t, i)
		isSpike = isSpike && needles
		if i == 0 {
			b.WriteString("M" + coordinate(c.x(t.AtNS[0])) + " " + height)
		} else if height != last || isSpike {
			b.WriteString("H" + coordinate(c.x(t.AtNS[i])))
		}
		if isSpike {
			b.WriteString("V" + coordinate(y(most)))
		}
		if i > 0 && height != last || isSpike {
			b.WriteString("V" + height)
		}
		last = height
	}
	if len(t.LastBytes) > 0 {
		b.WriteString("H" + coordinate(plotWidth))
	}
	return b.String()
}

// spikes are bars over what a line leaves out, each one column of the chart wide at most.
func (c *timeChart) spikes(t analysis.Timeline, y func(int64) float64) string {
	var b strings.Builder
	for i := range t.AtNS {
		most, ok := spike(t, i)
		if !ok {
			continue
		}
		from := c.x(t.AtNS[i])
		to := from + plotWidth/chartColumns
		if i+1 < len(t.AtNS) {
			to = min(to, c.x(t.AtNS[i+1]))
		}
		foot := coordinate(y(t.LastBytes[i]))
		b.WriteString("M" + coordinate(from) + " " + foot + "V" + coordinate(y(most)) + "H" + coordinate(max(to, from+0.5)) +
			"V" + foot + "Z")
	}
	return b.String()
}

// values are a line's stretches in numbers: where each begins along the width, what it leaves and the spike in it.
func (c *timeChart) values(t analysis.Timeline) string {
	var b strings.Builder
	for i := range t.AtNS {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(coordinate(c.x(t.AtNS[i])) + "," + strconv.FormatInt(t.LastBytes[i], 10))
		if most, ok := spike(t, i); ok {
			b.WriteString("," + strconv.FormatInt(most, 10))
		}
	}
	return b.String()
}

// closed makes a line an area that stands on the bottom of its lane.
func (c *timeChart) closed(line string, height float64) string {
	start, _, found := strings.Cut(strings.TrimPrefix(line, "M"), " ")
	if !found {
		return ""
	}
	return line + "V" + coordinate(height) + "H" + start + "Z"
}

// smallPath is a heap's own line for a table, 64 wide and 17 high, on its own scale.
func smallPath(t analysis.Timeline, whole capture.Window) string {
	if len(t.AtNS) == 0 {
		return ""
	}
	c := timeChart{span: whole}
	if c.span.To == c.span.From {
		c.span.To++
	}
	t = c.columns(t, smallColumns)
	highest := float64(max(1, highestOf(t)))
	return c.steps(t, func(v int64) float64 { return 16 - 15*max(0, float64(v))/highest }, true)
}
