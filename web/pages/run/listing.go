package run

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// pageSize is how many sites a page of the table has.
const pageSize = 50

// A listing is what the table of a run's sites shows. All of it stands in the address.
type listing struct {
	run    int64
	order  store.SiteOrder
	filter string
	heap   string
	kind   string
	class  string
	page   int // from 1
	open   int // ordinal of the site that is open; -1 for none
	window timeWindow
	view   string // of the selection
	opened string // signature whose row is open; "" for the first leak, closed for none
	metric string // what rows are ordered by; "" for growth
	// ignored are choices of the address that are unknown.
	ignored []ui.IgnoredChoice
	// more is what else is selected by: module, function, signature, thread, size and age.
	more query.Selection
}

// closed stands in an address for the signature of no row.
const closed = "none"

// memoryKinds are what sites may be filtered by, and what the page calls them.
var memoryKinds = []struct{ name, text string }{{"heap", "heap"}, {"virtual", "virtual memory"},
	{"heap-virtual", "heap’s own commits"}}

var heapForm = regexp.MustCompile(`^0x[0-9a-f]{1,16}$`)

// listingOf reads an address; report is that of the run, nil where there is none yet. What makes no sense in an address
// counts as not there; the page names an unknown view or order. Each paragraph reads one parameter and none depends on
// another, so that it is one function however many there are.
func listingOf(run int64, c echo.Context, report *analysis.Report) listing {
	isTrace := report != nil && report.Trace != nil
	l := listing{run: run, order: "growth", page: 1, open: -1, filter: strings.TrimSpace(ui.Printable(c.QueryParam("q")))}
	if len(l.filter) > ui.MaxFilterBytes {
		l.filter = strings.ToValidUTF8(l.filter[:ui.MaxFilterBytes], "")
	}
	if order := store.SiteOrder(c.QueryParam("sort")); store.ValidSiteOrder(order) ||
		isTrace && windowOrders[order] != nil {
		l.order = order
	}
	if isTrace {
		l.window = windowOf(report, c.QueryParam("from"), c.QueryParam("to"))
	}
	if at := slices.IndexFunc(memoryKinds,
		func(k struct{ name, text string }) bool { return k.name == c.QueryParam("kind") }); at >= 0 {
		l.kind = memoryKinds[at].name
	}
	if heap := c.QueryParam("heap"); heapForm.MatchString(heap) {
		l.heap = heap
	}
	if class := c.QueryParam("class"); slices.Contains(leaks.ClassFilters, class) {
		l.class = class
	}
	isOrder := func(order string) bool {
		return store.ValidSiteOrder(store.SiteOrder(order)) || isTrace && windowOrders[store.SiteOrder(order)] != nil
	}
	isMetric := func(name string) bool {
		return slices.ContainsFunc(query.Metrics, func(m query.Metric) bool { return m.Name == name })
	}
	for _, choice := range []struct {
		name, shown string
		isKnown     func(string) bool
	}{
		{"view", "the view Ranked", isView}, {"sort", "the order by growth", isOrder},
		{"metric", "the order by growth", isMetric},
	} {
		if i, unknown := ui.IgnoredChoiceIn(c, choice.name, choice.shown, choice.isKnown); unknown {
			l.ignored = append(l.ignored, i)
		}
	}
	l.view = viewRanked
	if view := c.QueryParam("view"); isView(view) {
		l.view = view
	}
	if metric := c.QueryParam("metric"); metric != query.Metrics[0].Name &&
		slices.ContainsFunc(query.Metrics, func(m query.Metric) bool { return m.Name == metric }) {
		l.metric = metric
	}
	l.more = moreOf(c)
	if isTrace {
		l.more.Snapshots = query.Range{} // it has none
	}
	if n, err := strconv.Atoi(c.QueryParam("page")); err == nil && n > 0 && n < 1<<24 {
		l.page = n
	}
	if open := ui.Printable(c.QueryParam("open")); strings.HasPrefix(open, "sig") && len(open) <= ui.MaxFilterBytes ||
		open == closed {
		l.opened = open
	} else if n, err := strconv.Atoi(open); err == nil && n >= 0 {
		l.open = n
	}
	return l
}

func (l listing) query() store.SiteQuery {
	return store.SiteQuery{RunID: l.run, Order: l.order, BeforeExit: l.window.beforeExit(), Filter: l.filter, Heap: l.heap,
		Kind: l.kind, Class: l.class, Limit: pageSize, Offset: (l.page - 1) * pageSize}
}

// isFiltered reports whether the table leaves sites out.
func (l listing) isFiltered() bool {
	return l.filter != "" || l.heap != "" || l.kind != "" || l.class != "" || l.more != (query.Selection{})
}

// The methods below give listings that links lead to. Another choice starts at the first page with no site open.

func (l listing) by(o store.SiteOrder) listing   { l.order = o; return l.fresh() }
func (l listing) inHeap(handle string) listing   { l.heap = handle; return l.fresh() }
func (l listing) ofKind(kind string) listing     { l.kind = kind; return l.fresh() }
func (l listing) during(w timeWindow) listing    { l.window = w; return l.fresh() }
func (l listing) ofClass(class string) listing   { l.class = class; return l.fresh() }
func (l listing) matching(filter string) listing { l.filter = filter; return l.fresh() }
func (l listing) fresh() listing                 { return l.at(1) }
func (l listing) at(page int) listing            { l.page, l.open, l.opened = page, -1, ""; return l }
func (l listing) openedAt(ordinal int) listing   { l.open = ordinal; return l }
func (l listing) in(view string) listing         { l.view = view; return l.fresh() }
func (l listing) measured(metric string) listing {
	if l.metric = metric; metric == query.Metrics[0].Name {
		l.metric = ""
	}
	return l.fresh()
}

// isWhole reports whether the page shows all of the run, in the order of the report.
func (l listing) isWhole() bool {
	return !l.isFiltered() && !l.window.scanned && l.metric == "" && l.more == (query.Selection{}) &&
		(l.view == viewRanked || l.view == viewSites)
}

// selection is what is selected of the run.
func (l listing) selection() query.Selection {
	s := l.more
	s.Kind, s.Class, s.Heap, s.Text = l.kind, l.class, l.heap, l.filter
	if l.window.part {
		s.From, s.To = &l.window.From, &l.window.To
	}
	return s
}

// moreOf reads what only selections know. What makes no sense counts as not there, and takes nothing else with it.
// Snapshots may be chosen from a later to an earlier one, as the menus allow it: they are those between.
func moreOf(c echo.Context) (more query.Selection) {
	values := url.Values{}
	for _, name := range []string{"module", "fn", "signature", "thread", "size", "age", "since", "until"} {
		text := ui.Printable(c.QueryParam(name))
		if text == "" || len(text) > maxName {
			continue
		}
		values.Set(name, text)
		if _, err := query.Parse(url.Values{name: {text}}); err != nil {
			values.Del(name)
		}
	}
	more, err := query.Parse(values)
	if err != nil { // each makes sense for itself: only the snapshots can be the wrong way round
		values["since"], values["until"] = values["until"], values["since"]
		if more, err = query.Parse(values); err != nil {
			return query.Selection{}
		}
	}
	return more
}

// maxName is how long the name of a function in an address may be.
const maxName = 4096

// fields are the choices of a listing. Defaults are left out, so that equal listings have equal addresses.
func (l listing) fields() []ui.Field {
	var list []ui.Field
	set := func(name, value string, isSet bool) {
		if isSet {
			list = append(list, ui.Field{Name: name, Value: value})
		}
	}
	set("from", seconds(l.window.From), l.window.named)
	set("to", seconds(l.window.To), l.window.named)
	set("sort", string(l.order), l.order != "growth")
	set("q", l.filter, l.filter != "")
	set("heap", l.heap, l.heap != "")
	set("kind", l.kind, l.kind != "")
	set("class", l.class, l.class != "")
	more := l.more.Values()
	for _, name := range slices.Sorted(maps.Keys(more)) {
		set(name, more.Get(name), true)
	}
	set("metric", l.metric, l.metric != "")
	set("view", l.view, l.view != viewRanked)
	set("page", strconv.Itoa(l.page), l.page > 1)
	set("open", strconv.Itoa(l.open), l.open >= 0)
	set("open", l.opened, l.opened != "")
	return list
}

// url is the address of the listing.
func (l listing) url() templ.SafeURL {
	return ui.WithFields(ui.RunURL(l.run), l.fields())
}

// rowURL opens or closes a site on the same page and leads to its row.
func (l listing) rowURL(ordinal int) templ.SafeURL {
	to := l.openedAt(ordinal)
	if l.open == ordinal {
		to.open = -1
	}
	return to.url() + templ.SafeURL(fmt.Sprintf("#s%d", ordinal))
}

// pages is how many pages a number of sites takes.
func pagesOf(total int64) int { return int((total + pageSize - 1) / pageSize) }

// pageLinks are the pages that the pager names: the first, the last and those around the present one; 0 stands for
// a gap.
func pageLinks(page, last int) []int {
	var list []int
	for n := 1; n <= last; n++ {
		near := n >= page-2 && n <= page+2
		if n == 1 || n == last || near {
			list = append(list, n)
		} else if list[len(list)-1] != 0 {
			list = append(list, 0)
			if n < page-2 {
				n = page - 3
			} else {
				n = last - 1
			}
		}
	}
	return list
}
