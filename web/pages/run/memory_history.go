package run

import (
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/footprint"
)

// unexplained is what nothing accounts for, drawn as if it were a use.
const unexplained capture.UseName = "unexplained"

// A historyChart is the memory over time, ready to draw.
type historyChart struct {
	snapshotChart
	layers   []historyLayer
	totals   []string // paths of the total, one for each life of the process
	blocks   []string // paths of what blocks hold, one for each list of instants that can be compared
	diamonds []mark
}

// A historyLayer is what a use has of the total; Paths are its shapes, one for each life of the process.
type historyLayer struct {
	use   capture.UseName
	paths []string
}

// tabled are the uses of a memory history in the order of tables. What the system has of the memory of a program is
// little, and told together.
var tabled = append(slices.DeleteFunc(slices.Clone(mapUses),
	func(u capture.UseName) bool { return u == capture.UsePEB || u == capture.UseTEB }), unexplained)

// useTitle names a use, and what is unexplained.
func useTitle(use capture.UseName) string {
	if use == unexplained {
		return "Unexplained"
	}
	return legendWord(use)
}

// bytesOfUse is what a use has at an instant.
func bytesOfUse(at *footprint.Instant, use capture.UseName) int64 {
	switch {
	case use == capture.UseSystem:
		return at.PartBytes(capture.UsePEB) + at.PartBytes(capture.UseTEB) + at.PartBytes(use)
	case use != unexplained:
		return at.PartBytes(use)
	case at.Unexplained == nil:
		return 0
	}
	return *at.Unexplained
}

// useBytes is what a use has at an instant; nil where the evidence does not say: some tells the total alone.
func useBytes(at *footprint.Instant, use capture.UseName) *int64 {
	if !hasUses(at) || use == unexplained && at.Unexplained == nil {
		return nil
	}
	return new(bytesOfUse(at, use))
}

func hasTotal(at *footprint.Instant) bool { return at.Total != nil }
func hasUses(at *footprint.Instant) bool  { return at.Total != nil && len(at.Parts) > 0 }

// historyUses are the uses that a memory history has anything of, in the order of tables, and what is unexplained
// behind them.
func historyUses(c *footprint.MemoryHistory) (list []capture.UseName) {
	for _, use := range tabled {
		if slices.ContainsFunc(c.Instants, func(at footprint.Instant) bool { return bytesOfUse(&at, use) != 0 }) {
			list = append(list, use)
		}
	}
	return list
}

// newHistoryChart draws a memory history.
func newHistoryChart(c *footprint.MemoryHistory) *historyChart {
	d := &historyChart{}
	x, timed := historyPositions(c)
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
	d.drawTotals(c, x, y)
	d.drawBlocks(c, x, y)
	if timed {
		d.drawTimes(time.Duration(c.Instants[len(x)-1].AtNS), x)
	} else {
		d.times = instantNumbers(x)
	}
	d.name = historyName(c)
	return d
}

// instantNumbers label the axis where times say nothing.
func instantNumbers(x []float64) []label {
	var all snapshotChart // its marks are all instants; those of the memory history are the ones that tell a total
	for _, at := range x {
		all.marks = append(all.marks, mark{x: at})
	}
	all.numberMarks()
	all.drawNumbers(x, "point")
	return all.times
}

// isDrawnByTime reports whether instants stand where their times are.
func isDrawnByTime(c *footprint.MemoryHistory) bool {
	return c.Timed && c.Instants[len(c.Instants)-1].AtNS > 0
}

// historyPositions places the instants by their time, else at equal distances.
func historyPositions(c *footprint.MemoryHistory) (x []float64, timed bool) {
	n := len(c.Instants)
	timed = isDrawnByTime(c)
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
func heightOf(at *footprint.Instant) (sum float64) {
	if at.Total == nil {
		return 0
	}
	for i := range at.Parts {
		sum += float64(max(0, at.Parts[i].Bytes))
	}
	return max(sum, float64(*at.Total))
}

// stretchesOf are the instants that tell something, those of one life of the process together: nothing is drawn from
// one to the next.
func stretchesOf(c *footprint.MemoryHistory, tells func(*footprint.Instant) bool) (list [][]int) {
	for i := range c.Instants {
		switch at := &c.Instants[i]; {
		case !tells(at):
		case len(list) > 0 && c.Instants[list[len(list)-1][0]].OtherLife == at.OtherLife:
			list[len(list)-1] = append(list[len(list)-1], i)
		default:
			list = append(list, []int{i})
		}
	}
	return list
}

// stacked are the uses from the bottom of the chart to its top: what programs allocate lies above the rest, and what is
// unexplained on top of all.
func stacked() []capture.UseName {
	list := slices.Clone(tabled[:len(tabled)-1])
	slices.Reverse(list)
	return append(list, unexplained)
}

// drawTotals draws the total.
func (d *historyChart) drawTotals(c *footprint.MemoryHistory, x []float64, y func(float64) float64) {
	for _, instants := range stretchesOf(c, hasTotal) {
		at, totals := make([]float64, len(instants)), make([]float64, len(instants))
		for k, i := range instants {
			at[k], totals[k] = x[i], float64(*c.Instants[i].Total)
			d.marks = append(d.marks, mark{x: x[i], y: y(totals[k]), title: instantTitle(c, i)})
		}
		d.totals = append(d.totals, outline(barPoints(at, totals, y)))
	}
}

// drawUses stacks the uses, of the instants that tell them: at another they would seem to have had nothing.
func (d *historyChart) drawUses(c *footprint.MemoryHistory, x []float64, y func(float64) float64) {
	layers := map[capture.UseName]*historyLayer{}
	for _, instants := range stretchesOf(c, hasUses) {
		at, bottom := make([]float64, len(instants)), make([]float64, len(instants))
		for k, i := range instants {
			at[k] = x[i]
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
				layers[use] = &historyLayer{use: use}
			}
			layers[use].paths = append(layers[use].paths, area(barPoints(at, top, y), barPoints(at, bottom, y)))
			bottom = top
		}
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

// A blockCount says which instants count the same blocks: those of one life of the process, and of a trace, which
// counts only what was allocated while it was recorded, those of that trace.
type blockCount struct {
	life  int
	trace string
}

// drawBlocks draws what the blocks of heaps hold, as evidence of allocations counts them.
func (d *historyChart) drawBlocks(c *footprint.MemoryHistory, x []float64, y func(float64) float64) {
	edges, order := map[blockCount][]point{}, []blockCount{}
	var of blockCount
	for i := range c.Instants {
		at := &c.Instants[i]
		if i > 0 && at.OtherLife != c.Instants[i-1].OtherLife {
			of.life++
		}
		if at.Blocks == nil {
			continue
		}
		p := point{x[i], y(float64(max(0, *at.Blocks)))}
		d.diamonds = append(d.diamonds, mark{x: p.x, y: p.y, title: instantTitle(c, i)})
		of.trace = ""
		if at.SinceStart {
			of.trace = at.File
		}
		if edges[of] == nil {
			order = append(order, of)
		}
		edges[of] = append(edges[of], p)
	}
	for _, of := range order {
		if edge := edges[of]; len(edge) > 1 {
			d.blocks = append(d.blocks, outline(edge))
		}
	}
}
