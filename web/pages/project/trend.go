package project

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	domain "heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	trendHeight = 150.0
	// trendLines is how many scenarios the chart has, those that grow most; the table of what was run has all.
	trendLines = 6
	// trendLabels is how many builds have their name below the chart.
	trendLabels = 12
)

// A trend is the growth of all that leaks or grows, by build and scenario, in one unit.
type trend struct {
	unit    string
	units   []string // that the builds were measured in, the one that most were first
	linear  bool
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
	number, unit, _ := strings.Cut(analysis.Bytes(int64(bytes)), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

// levels are the lines of a logarithmic scale, in bytes.
var levels = []float64{
	1, 10, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30, 10 << 30, 100 << 30, 1 << 40,
}

// scaleFor reaches the highest value, and where it is logarithmic down to below the lowest one, no more than six levels in all.
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

// trendOf draws the growth of a project in a unit: the one that most builds were measured in, unless another one is asked for.
func trendOf(s *standing, unit string, linear bool, policies *domain.Policies) *trend {
	c := s.coverage
	t := &trend{units: unitsOf(c), linear: linear}
	if len(c.Builds) < 2 || len(t.units) == 0 {
		return nil
	}
	if t.unit = unit; !slices.Contains(t.units, unit) {
		t.unit = t.units[0]
	}
	lowest, highest := math.Inf(1), 0.0
	for i := range c.Cells {
		if total := c.Cells[i].In(t.unit); total != nil && total.Bytes > 0 {
			lowest, highest = min(lowest, total.Bytes), max(highest, total.Bytes)
		}
	}
	scenarios := t.scenarios(c)
	limits := map[float64]bool{}
	for _, name := range scenarios {
		if limit := policies.For(name).TotalBudget(t.unit); limit != nil {
			limits[*limit], lowest, highest = true, min(lowest, *limit), max(highest, *limit)
		}
	}
	on := scaleFor(linear, lowest, highest)
	t.grid = on.grid()
	for limit := range limits {
		t.budgets = append(t.budgets, trendLevel{point(on.y(limit)), "budget " + analysis.Bytes(int64(limit)) + "/" + t.unit})
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
	t.since = t.band(s)
	t.says = t.sentence(s, scenarios)
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
func (t *trend) scenarios(c *store.Coverage) []string {
	most := map[string]float64{}
	for i := range c.Cells {
		if total := c.Cells[i].In(t.unit); total != nil {
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
func (t *trend) x(c *store.Coverage, at int) string {
	return point((float64(at)+0.5)/float64(len(c.Builds))*100) + "%"
}

// line draws one scenario.
func (t *trend) line(c *store.Coverage, scenario, class string, on scale) trendLine {
	l := trendLine{scenario: scenario, class: class}
	last, lastY := -1, 0.0
	for i, b := range c.Builds {
		cell := c.At(b.Name, scenario)
		if cell == nil {
			continue
		}
		total := cell.In(t.unit)
		p := trendPoint{x: t.x(c, i), url: ui.RunURL(cell.Run), class: "is-" + string(cell.Status)}
		switch {
		case total != nil:
			p.y, p.title = point(on.y(total.Bytes)), growthText(total)
			if total.High > total.Low {
				p.low, p.high = point(on.y(total.Low)), point(on.y(total.High))
			}
		case cell.Status == analysis.StatusNoLeak:
			p.y, p.title = point(trendHeight), "nothing leaks or grows"
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

func bytesOf(t *domain.Total) float64 {
	if t == nil {
		return 0
	}
	return t.Bytes
}

// growthText is a total in words.
func growthText(t *domain.Total) string {
	return fmt.Sprintf("%s per %s, between %s and %s, of %s", analysis.Bytes(int64(math.Round(t.Bytes))), t.Unit,
		analysis.Bytes(int64(math.Round(t.Low))), analysis.Bytes(int64(math.Round(t.High))), ui.Counted(t.Signatures, "signature"))
}

// band is where the gravest leak came in; nil where the builds shown do not tell.
func (t *trend) band(s *standing) *trendBand {
	if s.gravest == nil || s.spread.LastClean == "" {
		return nil
	}
	named := func(name string) int {
		return slices.IndexFunc(s.coverage.Builds, func(b store.BuildRef) bool { return b.Name == name })
	}
	from, to := named(s.spread.LastClean), named(s.spread.FirstBad)
	if from < 0 || to < 0 {
		return nil
	}
	n := float64(len(s.coverage.Builds))
	return &trendBand{
		x: t.x(s.coverage, from), width: point(float64(to-from)/n*100) + "%", at: t.x(s.coverage, to),
		text: "first bad: " + s.spread.LastClean + " → " + s.spread.FirstBad,
		url:  ui.CompareURL(s.project, s.of.Scenario, s.spread.LastClean, s.spread.FirstBad),
	}
}

// sentence says what the chart shows, for those who do not see it.
func (t *trend) sentence(s *standing, scenarios []string) string {
	text := fmt.Sprintf("Growth of all leaks per %s over %s.", t.unit, ui.Counted(len(s.coverage.Builds), "build"))
	for _, name := range scenarios {
		if cell := s.coverage.Newest(name); cell != nil {
			text += fmt.Sprintf(" %s in %s: %s per %s.", name, cell.Build, analysis.Bytes(int64(math.Round(bytesOf(cell.In(t.unit))))), t.unit)
		}
	}
	return text
}
