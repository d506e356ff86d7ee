package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

const (
	// chartColumns is how many stretches a line is drawn with: more than one a pixel shows nothing more.
	chartColumns = 700
	// smallColumns is the same for the drawings in tables.
	smallColumns = 96
	// drawnHeaps is how many heaps have a line of their own in the chart; the table of heaps has all.
	drawnHeaps = 5
	laneGap    = 26.0
	laneTop    = 10.0
)

// A timeChart is a process's memory over a trace: a lane of all heaps with the largest of them, and one of virtual
// memory, over one axis of time.
type timeChart struct {
	span   capture.Window // of the axis
	window timeWindow
	lanes  []lane
	times  []label
	spans  []spanMark
	height float64
	name   string // what the drawing says, for those who do not see it
}

// A lane is one drawing over the axis of time. Its height is in pixels, its width in thousandths of the chart's.
type lane struct {
	name, short string
	top, height float64
	grid        []gridLine
	layers      []layer // what is outstanding, the highest first: each covers what lies below the one before
	spikes      string  // the most that was, for a shorter time than the chart can draw
	values      string  // both as numbers, for the script
	line        string
	heaps       []heapLine
	peak        *label
	peakY       float64
	peakTitle   string
}

// A heapLine is the line of one heap in a lane.
type heapLine struct {
	slot         int // from 1: the colour and the dashes
	handle, path string
	title        string
	chosen       bool // the sites are those of this heap
}

// A spanMark is an instant in the life of the process, drawn through all lanes. Hatched is where it does not live.
type spanMark struct {
	x        float64
	text     string
	atEnd    bool // the text stands before the line
	from, to float64
}

// newTimeChart draws a trace. heap is the handle of the heap that the sites are filtered by, "" for none; bands are
// what of a kind of memory it tells apart.
func newTimeChart(r *analysis.Report, w timeWindow, heap string, bands func(kind string) []band) timeChart {
	c := timeChart{span: wholeOf(r.Trace), window: w, height: laneTop}
	if c.span.To == c.span.From {
		c.span.To++
	}
	if len(r.Trace.HeapTimeline.AtNS) > 0 {
		c.addLane("Heaps", "heaps", 132, r.Trace.HeapTimeline, peakAt(r.Totals.Heap), heapLines(r.Heaps, heap),
			c.growing(r, bands(capture.KindHeap.String())))
	}
	if len(r.Trace.VirtualTimeline.AtNS) > 0 {
		c.addLane("Virtual memory", "virtual memory", 74, r.Trace.VirtualTimeline, peakAt(r.Totals.Virtual), nil,
			c.growing(r, bands(capture.KindVirtual.String())))
	}
	c.height -= laneGap
	c.drawSeconds()
	c.drawLife(r.Trace)
	c.name = c.describe(r)
	return c
}

func peakAt(a analysis.Amounts) *analysis.Peak {
	if a.Lifetimes == nil {
		return nil
	}
	return a.Peak
}

// x is the place of a time along the width.
func (c *timeChart) x(ns int64) float64 {
	part := float64(ns-c.span.From) / float64(c.span.To-c.span.From)
	return plotWidth * min(1, max(0, part))
}

func (c *timeChart) addLane(name, short string, height float64, t analysis.Timeline, peak *analysis.Peak,
	heaps []analysis.Heap, bands []timeBand) {
	l := lane{name: name, short: short, top: c.height, height: height}
	highest := int64(1)
	for _, v := range t.MaxBytes {
		highest = max(highest, v)
	}
	for _, v := range t.LastBytes {
		highest = max(highest, v)
	}
	lines := 4.0
	if height < 100 {
		lines = 2
	}
	var ceiling float64
	l.grid, ceiling = gridOf(float64(highest), height, lines, 1.12)
	y := func(bytes int64) float64 { return height * (1 - max(0, float64(bytes))/ceiling) }
	main := c.columns(t, chartColumns)
	l.line, l.values = c.steps(main, y, false), c.values(main)
	l.layers, l.spikes = c.layersOf(main, bands, y, height), c.spikes(main, y)
	for i, h := range heaps {
		own := c.columns(lineOf(h), chartColumns/2)
		l.heaps = append(l.heaps, heapLine{
			slot: min(i, drawnHeaps) + 1, handle: h.Handle, path: c.steps(own, y, true), chosen: i >= drawnHeaps,
			title: fmt.Sprintf("heap %s: at most %s", h.Handle, quantity.Bytes(highestOf(lineOf(h)))),
		})
	}
	if at, bytes := highestPoint(t); peak == nil && len(t.AtNS) > 0 {
		peak = &analysis.Peak{Amount: analysis.Amount{Bytes: bytes}, AtNS: at}
	}
	if peak != nil && peak.Bytes > 0 {
		at := min(max(peak.AtNS, c.span.From), c.span.To)
		l.peakY = y(peak.Bytes)
		l.peak = &label{x: c.x(at), y: max(11, l.peakY-5), text: "peak " + quantity.Bytes(peak.Bytes)}
		switch {
		case l.peak.x > 0.86*plotWidth:
			l.peak.class = "y"
		case l.peak.x > 0.08*plotWidth:
			l.peak.class = "mid"
		}
		l.peakTitle = fmt.Sprintf("peak of %s: %s at %s", short, ui.ExactBytes(peak.Bytes), clock(peak.AtNS))
	}
	c.lanes = append(c.lanes, l)
	c.height += height + laneGap
}

// heapLines are the heaps to draw, the largest first: none where there is one heap only, which is the lane itself. A
// heap that is chosen is always among them.
func heapLines(heaps []analysis.Heap, chosen string) []analysis.Heap {
	if len(heaps) < 2 {
		return nil
	}
	list := slices.Clone(heaps)
	slices.SortStableFunc(list, func(a, b analysis.Heap) int {
		return cmp.Compare(highestOf(lineOf(b)), highestOf(lineOf(a)))
	})
	shown := list[:min(len(list), drawnHeaps):min(len(list), drawnHeaps)]
	if at := slices.IndexFunc(list, func(h analysis.Heap) bool { return h.Handle == chosen }); at >= drawnHeaps {
		shown = append(shown, list[at])
	}
	return shown
}

// lineOf is a heap's timeline, empty where the report has none.
func lineOf(h analysis.Heap) analysis.Timeline {
	if h.Timeline == nil {
		return analysis.Timeline{}
	}
	return *h.Timeline
}

func highestOf(t analysis.Timeline) int64 {
	_, bytes := highestPoint(t)
	return bytes
}

// highestPoint is the first stretch with the most in it.
func highestPoint(t analysis.Timeline) (at, bytes int64) {
	for i := range min(len(t.AtNS), len(t.MaxBytes)) {
		if i == 0 || t.MaxBytes[i] > bytes {
			at, bytes = t.AtNS[i], t.MaxBytes[i]
		}
	}
	return at, bytes
}

// drawSeconds labels the axis with seconds of the trace.
func (c *timeChart) drawSeconds() {
	const labels = 9
	whole := float64(c.span.To-c.span.From) / 1e9
	step := roundStep(whole / labels)
	for i := math.Ceil(float64(c.span.From) / 1e9 / step); len(c.times) < 2*labels; i++ {
		at := i * step
		ns := int64(math.Round(at * 1e9))
		if ns > c.span.To {
			break
		}
		decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
		text := strconv.FormatFloat(math.Abs(at), 'f', decimals, 64)
		if decimals == 0 || i == 0 {
			text = quantity.Count(int64(math.Round(math.Abs(at))))
		}
		if at < 0 {
			text = "−" + text
		}
		l := label{x: c.x(ns), text: text, class: "mid"}
		if len(c.times) == 0 {
			l.text += " s"
		}
		if l.x > 0.98*plotWidth {
			l.class = "y"
		}
		c.times = append(c.times, l)
	}
}

// drawLife marks when the process began and ended.
func (c *timeChart) drawLife(t *analysis.Trace) {
	if at := t.BeganNS; at != nil && *at > c.span.From && *at <= c.span.To {
		x := c.x(*at)
		c.spans = append(c.spans, spanMark{x: x, text: "began at " + clock(*at), atEnd: x > 0.8*plotWidth, from: 0, to: x})
	}
	if at := t.ExitedNS; at != nil && *at >= c.span.From && *at <= c.span.To {
		x := c.x(*at)
		c.spans = append(c.spans,
			spanMark{x: x, text: "exited at " + clock(*at), atEnd: x > 0.2*plotWidth, from: x, to: plotWidth})
	}
}

// describe says of each lane what it begins with, its highest point and what it ends with. A line has its first point
// behind the first allocation.
func (c *timeChart) describe(r *analysis.Report) string {
	var parts []string
	for _, l := range []struct {
		name string
		line analysis.Timeline
		in   analysis.Amounts
	}{{"heaps", r.Trace.HeapTimeline, r.Totals.Heap}, {"virtual memory", r.Trace.VirtualTimeline, r.Totals.Virtual}} {
		n := len(l.line.LastBytes)
		if n == 0 {
			continue
		}
		_, most := highestPoint(l.line)
		first, _ := atStart(l.in)
		parts = append(parts, fmt.Sprintf("%s %s at the start, at most %s, %s at the end", l.name,
			quantity.Bytes(first.Bytes), quantity.Bytes(most), quantity.Bytes(l.line.LastBytes[n-1])))
	}
	return fmt.Sprintf("Held memory from %s to %s: %s.", clock(c.span.From), clock(c.span.To),
		strings.Join(parts, "; "))
}
