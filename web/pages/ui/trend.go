package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

const (
	trendHeight = 150.0
	// trendLines is how many scenarios the chart has, those that grow most; the table of what was run has all.
	trendLines = 6
	// trendLabels is how many builds have their name below the chart.
	trendLabels = 12
)

// A TrendQuery says what a chart of growth by build shows.
type TrendQuery struct {
	Title    string // "Growth of all leaks"
	Note     string // below the chart
	Coverage *store.Coverage
	Policies *leaks.Policies // its budgets of whole runs are drawn; nil for none
	Unit     string          // "" for the one that most builds were measured in
	Linear   bool            // else logarithmic
	// LastClean and FirstBad are the builds between which the leak came in, "" where unknown; Between is the page that
	// compares them.
	LastClean, FirstBad string
	Between             templ.SafeURL
	// Address is the page with another unit or scale.
	Address func(fields ...Field) templ.SafeURL
}

// A Trend is growth by build and scenario, in one unit.
type Trend struct {
	TrendQuery
	units   []string // that the builds were measured in, the one that most were first
	grid    []trendLevel
	ticks   []trendTick
	lines   []trendLine
	budgets []trendLevel
	since   *trendBand // in which the gravest leak came
	says    string     // the chart in a sentence
}

// A trendLevel is a line across the chart with its text.
type trendLevel struct{ y, text string }

// A trendTick is a build below the chart.
type trendTick struct{ x, text string }

// A trendBand is the part of the chart from the last clean build to the first bad one.
type trendBand struct {
	x, width, at, text string
	url                templ.SafeURL
}

// A trendLine is one scenario.
type trendLine struct {
	scenario, class string
	path, gap       string // between builds that were run one after the other; across builds that were not
	points          []trendPoint
}

// A trendPoint is one build in a scenario.
type trendPoint struct {
	x, y, low, high string // low and high are "" without an interval
	class, title    string
	url             templ.SafeURL
}

// A scale puts bytes per unit on the height of the chart.
type scale struct {
	linear     bool
	floor, top float64 // the floor of a linear one is 0
}

// levelText is a line of the scale without the digits that say nothing.
func levelText(bytes float64) string {
	number, unit, _ := strings.Cut(quantity.Bytes(int64(bytes)), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

// levels are the lines of a logarithmic scale, in bytes.
var levels = []float64{
	1, 10, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30, 10 << 30, 100 << 30, 1 << 40,
}

// scaleFor reaches the highest value, and where it is logarithmic down to below the lowest one, no more than six levels
// in all.
func scaleFor(linear bool, lowest, highest float64) scale {
	if linear {
		return scale{true, 0, max(highest*1.1, 1)}
	}
	top := 1
	for top < len(levels)-1 && levels[top] < highest*1.2 {
		top++
	}
	floor := max(top-3, 0)
	for floor > max(top-6, 0) && levels[floor] > lowest/2 {
		floor--
	}
	return scale{false, levels[floor], levels[top]}
}

// y is where a value stands, 0 being the top. What does not grow stands on the axis.
func (s scale) y(v float64) float64 {
	if v <= 0 {
		return trendHeight
	}
	if s.linear {
		return trendHeight * (1 - min(v/s.top, 1))
	}
	return trendHeight * (1 - min(max(math.Log(v/s.floor)/math.Log(s.top/s.floor), 0), 1))
}

// grid are the lines of the scale.
func (s scale) grid() []trendLevel {
	var list []trendLevel
	if s.linear {
		for i := range 4 {
			v := s.top * float64(i+1) / 4
			list = append(list, trendLevel{point(s.y(v)), levelText(v)})
		}
		return list
	}
	for _, l := range levels {
		if l >= s.floor && l <= s.top {
			list = append(list, trendLevel{point(s.y(l)), levelText(l)})
		}
	}
	return list
}

// point is a coordinate of a drawing.
func point(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// TrendOf draws growth by build; nil where there are less than two builds or nothing was measured.
func TrendOf(q TrendQuery) *Trend {
	c := q.Coverage
	t := &Trend{TrendQuery: q, units: unitsOf(c)}
	if len(c.Builds) < 2 || len(t.units) == 0 {
		return nil
	}
	if !slices.Contains(t.units, t.Unit) {
		t.Unit = t.units[0]
	}
	lowest, highest := math.Inf(1), 0.0
	for i := range c.Cells {
		if total := c.Cells[i].TotalIn(t.Unit); total != nil && total.Bytes > 0 {
			lowest, highest = min(lowest, total.Bytes), max(highest, total.Bytes)
		}
	}
	scenarios := t.scenarios(c)
	limits := map[float64]bool{}
	for _, name := range scenarios {
		if limit := q.budget(name, t.Unit); limit != nil {
			limits[*limit], lowest, highest = true, min(lowest, *limit), max(highest, *limit)
		}
	}
	on := scaleFor(q.Linear, lowest, highest)
	t.grid = on.grid()
	for limit := range limits {
		t.budgets = append(t.budgets, trendLevel{point(on.y(limit)), "budget " + quantity.Bytes(int64(limit)) + "/" + t.Unit})
	}
	slices.SortFunc(t.budgets, func(a, b trendLevel) int { return len(a.text) - len(b.text) })
	every := (len(c.Builds) + trendLabels - 1) / trendLabels
	for i, b := range c.Builds {
		if (len(c.Builds)-1-i)%every == 0 {
			t.ticks = append(t.ticks, trendTick{t.x(c, i), b.Name})
		}
	}
	for i, name := range scenarios {
		t.lines = append(t.lines, t.line(c, name, "t-"+strconv.Itoa(i), on))
	}
	t.since = t.band()
	t.says = t.sentence(scenarios)
	return t
}

// unitsOf are the units in which builds were measured, the one that most were first.
func unitsOf(c *store.Coverage) []string {
	n := map[string]int{}
	var units []string
	for i := range c.Cells {
		for _, total := range c.Cells[i].Totals {
			if n[total.Unit]++; n[total.Unit] == 1 {
				units = append(units, total.Unit)
			}
		}
	}
	slices.SortStableFunc(units, func(a, b string) int { return n[b] - n[a] })
	return units
}

// scenarios are those that grow most in any build, by name.
func (t *Trend) scenarios(c *store.Coverage) []string {
	most := map[string]float64{}
	for i := range c.Cells {
		if total := c.Cells[i].TotalIn(t.Unit); total != nil {
			most[c.Cells[i].Scenario] = max(most[c.Cells[i].Scenario], total.Bytes)
		}
	}
	list := slices.Clone(c.Scenarios)
	slices.SortStableFunc(list, func(a, b string) int { return int(math.Copysign(1, most[b]-most[a])) })
	list = slices.DeleteFunc(list, func(name string) bool { _, measured := most[name]; return !measured })
	list = list[:min(len(list), trendLines)]
	slices.Sort(list)
	return list
}

// x is where a build stands, by its place among those shown.
func (t *Trend) x(c *store.Coverage, at int) string {
	return point((float64(at)+0.5)/float64(len(c.Builds))*100) + "%"
}

// line draws one scenario.
func (t *Trend) line(c *store.Coverage, scenario, class string, on scale) trendLine {
	l := trendLine{scenario: scenario, class: class}
	last, lastY := -1, 0.0
	for i, b := range c.Builds {
		cell := c.At(b.Name, scenario)
		if cell == nil {
			continue
		}
		total := cell.TotalIn(t.Unit)
		p := trendPoint{x: t.x(c, i), url: RunURL(cell.RunID), class: "is-" + string(cell.Status)}
		switch {
		case total != nil:
			p.y, p.title = point(on.y(total.Bytes)), growthText(total)
			if total.High > total.Low && !total.Unbounded {
				p.low, p.high = point(on.y(total.Low)), point(on.y(total.High))
			}
		case cell.Status == analysis.StatusNoLeak:
			p.y, p.title = point(trendHeight), "no leak and no growth"
		default: // it says nothing of how fast: not a point of the line
			continue
		}
		p.title = b.Name + ", " + scenario + ": " + p.title
		y := on.y(bytesOf(total))
		if last >= 0 {
			step := fmt.Sprintf("M%s %s L%s %s ", inThousand(last, c), point(lastY), inThousand(i, c), point(y))
			if last == i-1 {
				l.path += step
			} else {
				l.gap += step
			}
		}
		last, lastY = i, y
		l.points = append(l.points, p)
	}
	return l
}

// inThousand is where a build stands in a drawing that is a thousand wide.
func inThousand(at int, c *store.Coverage) string {
	return point((float64(at) + 0.5) / float64(len(c.Builds)) * 1000)
}

func bytesOf(t *leaks.TotalGrowth) float64 {
	if t == nil {
		return 0
	}
	return t.Bytes
}

// growthText is a total in words.
func growthText(t *leaks.TotalGrowth) string {
	stated := t.State()
	stated.Bytes = math.Round(stated.Bytes)
	text, of := stated.Text(), quantity.Plural(t.Signatures, "signature")
	if t.Unbounded {
		return text + ", of " + of + "; " + withoutInterval
	}
	return text + ", " + intervalText(t.Bytes, t.Low, t.High) + ", of " + of
}

// budget is the limit of a scenario; nil for none.
func (q *TrendQuery) budget(scenario, unit string) *float64 {
	if q.Policies == nil {
		return nil
	}
	return q.Policies.For(scenario).TotalBudget(unit)
}

// band is where the leak came in; nil where the builds shown do not tell.
func (t *Trend) band() *trendBand {
	named := func(name string) int {
		return slices.IndexFunc(t.Coverage.Builds, func(b store.BuildRef) bool { return b.Name == name })
	}
	from, to := named(t.LastClean), named(t.FirstBad)
	if from < 0 || to < 0 {
		return nil
	}
	n := float64(len(t.Coverage.Builds))
	return &trendBand{
		x: t.x(t.Coverage, from), width: point(float64(to-from)/n*100) + "%", at: t.x(t.Coverage, to), text: "first seen: " +
			t.LastClean + " → " + t.FirstBad, url: t.Between,
	}
}

// url is the page with the chart in a unit and on a scale; defaults are left out.
func (t *Trend) url(unit string, linear bool) templ.SafeURL {
	var fields []Field
	if unit != t.units[0] {
		fields = append(fields, Field{"per", unit})
	}
	if linear {
		fields = append(fields, Field{"scale", "linear"})
	}
	return t.Address(fields...)
}

// sentence says what the chart shows, for those who do not see it.
func (t *Trend) sentence(scenarios []string) string {
	text := fmt.Sprintf("%s per %s over %s.", t.Title, t.Unit, quantity.Plural(len(t.Coverage.Builds), "build"))
	for _, name := range scenarios {
		if cell := t.Coverage.Newest(name); cell != nil {
			total := cell.TotalIn(t.Unit)
			if total == nil && len(cell.Totals) > 0 { // it grew, in another unit
				total = &cell.Totals[0]
			}
			if total != nil {
				text += fmt.Sprintf(" %s in %s: %s.", name, cell.Build, total.State().Text())
			} else {
				text += fmt.Sprintf(" %s in %s: nothing grew.", name, cell.Build)
			}
		}
	}
	return text
}
