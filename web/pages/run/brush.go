package run

import "strconv"

// A brush shows and chooses the part of a chart that the views below are of: the window of a trace, the snapshots of a
// series. Heights are in pixels, places along the chart in thousandths.
type brush struct {
	height, top, bottom float64 // of the chart, and of its plot
	first, last         string  // ends of the axis, for the script
	from, to            string  // what is chosen of it
	stops               string  // the only places that can be chosen; "" for any
	left, right         float64 // edges of what is chosen
	before, behind      float64 // how wide the shades beside it are
	part                bool    // not everything is chosen
	hair                bool    // a line follows the pointer
}

// brush chooses the window of a trace.
func (c timeChart) brush() brush {
	left, right := c.x(c.window.From), c.x(c.window.To)
	return brush{
		height: c.height + 20, top: laneTop, bottom: c.height,
		first: strconv.FormatInt(c.span.From, 10), last: strconv.FormatInt(c.span.To, 10),
		from: strconv.FormatInt(c.window.From, 10), to: strconv.FormatInt(c.window.To, 10),
		left: left, right: right, before: left, behind: plotWidth - right,
		part: c.window.part, hair: true,
	}
}

// brush chooses the snapshots of a series. Nothing is left out before the first and behind the last, so that there is
// no shade.
func (c *snapshotChoice) brush() brush {
	left, right := c.x(c.chosen.From), c.x(c.chosen.To)
	b := brush{
		height: plotTop + plotHeight, top: plotTop, bottom: plotTop + plotHeight, first: "0", last: coordinate(plotWidth),
		from: stop(left), to: stop(right), stops: c.stops(), left: left, right: right, part: c.isPart(),
	}
	if c.chosen.From > 1 {
		b.before = left
	}
	if c.chosen.To < len(c.snapshots) {
		b.behind = plotWidth - right
	}
	return b
}
