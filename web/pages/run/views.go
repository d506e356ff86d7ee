package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// The views of a selection, by their names in an address.
const (
	viewRanked    = "ranked"
	viewFlame     = "flame"
	viewCalls     = "calls"
	viewModules   = "modules"
	viewHeaps     = "heaps"
	viewSizes     = "sizes"
	viewLifetimes = "lifetimes"
	viewBlocks    = "blocks"
	viewSites     = "sites"
)

// viewNames are the views in the order of their tabs, and what the tabs say. ofTrace marks what snapshots cannot fill.
var viewNames = []struct {
	name, text, title string
	ofTrace           bool
}{
	{viewRanked, "Ranked", "signatures, leaks first", false},
	{viewFlame, "Flame", "call stacks of the memory, as a flame graph", false},
	{viewCalls, "Calls", "functions, with the callers and callees of one", false},
	{viewModules, "Modules", "by the module of the blamed function", false},
	{viewHeaps, "Heaps", "by heap", false},
	{viewSizes, "Sizes", "held memory by block size", false},
	{viewLifetimes, "Lifetimes",
		"the largest allocations made in the window, with Commit Time, Decommit Time and Impacting Size", true},
	{viewBlocks, "Blocks", "the largest allocations that are held at the window’s end", true},
	{viewSites, "Sites", "each stack in each heap", false},
}

func isView(name string) bool {
	return slices.ContainsFunc(viewNames, func(v struct {
		name, text, title string
		ofTrace           bool
	}) bool {
		return v.name == name
	})
}

// looksAtAllocations reports whether a view looks at single allocations of a trace.
func (l listing) looksAtAllocations() bool {
	return l.view == viewSizes || l.view == viewLifetimes || l.view == viewBlocks
}

// shownAllocations is how many allocations a page lists.
const shownAllocations = 200

// A viewCard is a selection of a run in one of its views.
type viewCard struct {
	listing
	project string
	build   string     // of the run
	source  ui.Source  // its links are read with the row that is open
	trace   *traceView // nil for snapshots
	report  *analysis.Report
	// judgedAlone says that classes are those of the selection, not those of the whole run.
	judgedAlone bool
	// problem is why the selection has no answer; nil where it has one.
	problem *windowProblem
	totals  *query.Totals // nil where the database answers
	modules []query.Group // to choose from
	heaps   []query.Group // to choose from

	// What the view shows; the others are nil.
	ranked *rankedTable
	groups []query.Group
	around *query.Butterfly
	by     query.Metric // what groups are ordered by
	sizes  *query.Sizes
	list   *query.Allocations
	sites  *siteTable
}

// card makes the view that a listing chooses.
func (r *reader) card(ctx context.Context, run store.Run, report *analysis.Report, l listing,
	trace *traceView) (*viewCard, error) {
	c := &viewCard{listing: l, project: run.Project, build: run.Build, source: sourceOf(run), trace: trace, report: report}
	if run.ReportKey != r.asked.report { // it was replaced between two looks
		r.asked = asked{report: run.ReportKey}
	}
	if l.view == viewSites {
		table, err := r.sites(ctx, run, report, l, trace)
		var refused *analysis.Error
		if errors.As(err, &refused) {
			c.problem = &windowProblem{refused.Code, refused.Message}
			return c, nil
		}
		c.sites, c.listing = &table, table.listing
		return c, err
	}
	result, err := r.ask(ctx, c)
	var refused *analysis.Error
	switch {
	case errors.As(err, &refused):
		c.problem = &windowProblem{refused.Code, refused.Message}
		return c, nil
	case err != nil:
		return nil, err
	case result == nil && !l.isWhole():
		c.problem = &windowProblem{"no-report",
			"analyse the run again: its stored report cannot be read"}
		return c, nil
	case result != nil:
		c.totals, c.modules, c.heaps = result.Totals(), result.Modules(query.Metrics[1]), result.Heaps(query.Metrics[1])
		c.judgedAlone = result.JudgesSelection()
	}
	switch l.view {
	case viewModules, viewHeaps, viewCalls:
		err = c.group(r.asked.index, result)
	case viewSizes:
		c.sizes, err = result.Sizes(ctx)
	case viewLifetimes:
		c.list, err = result.Lifetimes(ctx, shownAllocations)
	case viewBlocks:
		c.list, err = result.Blocks(ctx, shownAllocations)
	case viewRanked:
		c.ranked, err = r.ranked(ctx, run, c, result)
	}
	if errors.As(err, &refused) {
		c.problem, err = &windowProblem{refused.Code, refused.Message}, nil
	}
	return c, err
}

// group fills the groups of the view.
func (c *viewCard) group(x *query.Index, result *query.Result) error {
	metric, err := x.Metric(c.metric)
	if err != nil {
		return err
	}
	c.by = metric
	switch function := c.more.Function; {
	case c.view == viewModules:
		c.groups = result.Modules(metric)
	case c.view == viewHeaps:
		c.groups = result.Heaps(metric)
	case function == "":
		c.groups = result.Functions(metric)
	default:
		c.around = result.Butterfly(metric, function)
	}
	return nil
}

// ask answers the selection; nil where the report is not at hand.
func (r *reader) ask(ctx context.Context, c *viewCard) (*query.Result, error) {
	x, selection := r.asked.index, c.selection()
	if x == nil {
		return nil, nil
	}
	if c.trace != nil && c.trace.windowed != nil && !selection.OfAllocations() {
		return x.AskIn(selection, c.trace.windowed, r.asked.table), nil
	}
	return x.Ask(ctx, selection, r.asked.table)
}

// A tab leads to a view.
type tab struct {
	text, title string
	to          templ.SafeURL
	isHere      bool
}

// tabs are the views that the evidence can fill.
func (c *viewCard) tabs() []tab {
	var list []tab
	for _, v := range viewNames {
		if v.ofTrace && c.trace == nil {
			continue
		}
		list = append(list, tab{v.text, v.title, c.in(v.name).url() + "#views", v.name == c.view})
	}
	return list
}

// viewAlone answers htmx with the view and what stands above it.
func (r *reader) viewAlone(ctx context.Context, c echo.Context, run store.Run, report *analysis.Report,
	l listing) (answer, error) {
	var trace *traceView
	if report.Trace != nil {
		var err error
		if trace, err = r.trace(ctx, run, report, &l); err != nil {
			return answer{}, err
		}
	}
	card, err := r.card(ctx, run, report, l, trace)
	if err != nil {
		return answer{}, err
	}
	if c.Request().Header.Get("HX-Trigger") == "filter" {
		c.Response().Header().Set("HX-Replace-Url", string(card.url())) // without the empty fields of the form
	}
	return answer{page: viewAnew(*card)}, nil
}

// viewOfSnapshots answers htmx with the views of other snapshots of a series, and with the bar that chooses them.
func (r *reader) viewOfSnapshots(ctx context.Context, c echo.Context, run store.Run, report *analysis.Report,
	l listing) (answer, error) {
	card, err := r.card(ctx, run, report, l, nil)
	if err != nil {
		return answer{}, err
	}
	c.Response().Header().Set("HX-Push-Url", string(card.url()))
	return answer{page: snapshotsAnew(chooseSnapshots(card.listing, report, marksOf(report)), *card)}, nil
}

// apiURL is the view as the API gives it, in a format, or of another view.
func (c *viewCard) apiURL(view, format string) string {
	selection := c.selection()
	values := selection.Values()
	if c.metric != "" {
		values.Set("metric", c.metric)
	}
	if format != "json" {
		values.Set("format", format)
	}
	address := ui.RunURL(c.run)
	text := "/api/v1" + string(address) + "/views/" + view
	if len(values) > 0 {
		text += "?" + values.Encode()
	}
	return text
}

// chips are the filters of the selection that no menu shows, each with the listing without it.
func (c *viewCard) chips() []chip {
	var list []chip
	add := func(name, text string, without func(*listing)) {
		if text != "" {
			to := c.fresh()
			without(&to)
			list = append(list, chip{name + ": " + text, to})
		}
	}
	add("function", c.more.Function, func(l *listing) { l.more.Function = "" })
	add("signature", c.more.Signature, func(l *listing) { l.more.Signature = "" })
	add("text", c.filter, func(l *listing) { l.filter = "" })
	if n := len(c.report.Snapshots); c.trace == nil && c.more.Snapshots != (query.Range{}) {
		part := c.more.Part(n)
		add("snapshots", fmt.Sprintf("%d to %d of %d", part.From, part.To, n),
			func(l *listing) { l.more.Snapshots = query.Range{} })
	}
	if c.more.Thread != nil {
		add("thread", strconv.FormatUint(uint64(*c.more.Thread), 10), func(l *listing) { l.more.Thread = nil })
	}
	values := c.more.Values()
	add("size", withUnit(values, "size", " B"), func(l *listing) { l.more.Size = query.Range{} })
	add("age", withUnit(values, "age", " s"), func(l *listing) { l.more.Age = query.Range{} })
	return list
}

func withUnit(values url.Values, name, unit string) string {
	if values.Get(name) == "" {
		return ""
	}
	return values.Get(name) + unit
}

// A chip is a filter that can be taken away.
type chip struct {
	text    string
	without listing
}
