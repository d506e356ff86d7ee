package project

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/accounts"
	"heapdrift/internal/analysis"
	domain "heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	// boardBuilds is how many builds, the newest ones, the strip of a scenario has.
	boardBuilds = 6
	// staleAfter is when a scenario counts as not run lately.
	staleAfter = 7 * 24 * time.Hour
)

// projects handles GET /: all projects with how they stand, those that fail first, or how to begin where there is none;
// show= keeps those that stand so.
func (p *pages) projects(c echo.Context) error {
	ctx := c.Request().Context()
	view := projectsView{Frame: ui.FrameOf(c, "Projects"), curl: ui.Target{}.CurlCommand(c)}
	err := p.store.View(ctx, func(v store.View) error {
		list, err := v.ListProjects(ctx, accounts.ActorFrom(ctx))
		if err != nil {
			return err
		}
		names := make([]string, len(list))
		for i := range list {
			names[i] = list[i].Name
		}
		standings, err := boardOf(ctx, v, names)
		for i, s := range standings {
			view.all = append(view.all, boardRow{list[i], s})
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(view.all, compareBoardRows)
	view.show = shownOf(c.QueryParam("show"))
	actor := accounts.ActorFrom(ctx)
	view.makes, view.uploads = actor.MayEverywhere(), actor.MaySomewhere(accounts.Upload)
	view.Tab = "projects"
	return ui.Render(c, http.StatusOK, projectsPage(view))
}

// askedSites is up to how many sites in a build's runs the gates are asked on a board of so many projects.
func askedSites(projects int) int64 {
	if projects > decidedProjects {
		return 0
	}
	return decidedSites
}

type projectsView struct {
	ui.Frame
	all  []boardRow
	show boardFilter
	curl string
	// makes and uploads say what the reader may do somewhere.
	makes, uploads bool
}

// A boardRow is one project on the board.
type boardRow struct {
	store.Project
	*standing
}

// boardOrder puts projects that fail first, then those whose gate is not decided.
var boardOrder = map[domain.Gate]int{domain.GateFailed: 0, domain.GateError: 1, domain.GateInconclusive: 2,
	domain.GatePending: 3, domain.GatePassed: 4, "": 5}

func compareBoardRows(a, b boardRow) int {
	return cmp.Or(cmp.Compare(boardOrder[a.gate()], boardOrder[b.gate()]), cmp.Compare(a.Name, b.Name))
}

// isStale reports whether one of the project's scenarios was not run lately.
func (r boardRow) isStale() bool { return r.stale(time.Now()) > 0 }

// stale counts the scenarios that were not run lately.
func (r boardRow) stale(now time.Time) int {
	n := len(r.coverage.Scenarios) - len(r.newest) // older than all builds of the strip
	for _, cell := range r.newest {
		if now.Sub(cell.At) > staleAfter {
			n++
		}
	}
	return n
}

// A boardFilter selects a part of the board.
type boardFilter struct {
	name, text string
	has        func(boardRow) bool
}

var boardFilters = []boardFilter{
	{"", "all", func(boardRow) bool { return true }},
	{"failing", "failing", func(r boardRow) bool { return r.gate() == domain.GateFailed }},
	{"undecided", "undecided", func(r boardRow) bool {
		return r.gate() != domain.GateFailed &&
			r.gate() != domain.GatePassed
	}},
	{"passing", "passing", func(r boardRow) bool { return r.gate() == domain.GatePassed }},
	{"stale", "not run for 7 days", boardRow.isStale},
}

// shownOf is the part that an address asks for; all of it where it names none.
func shownOf(name string) boardFilter {
	at := slices.IndexFunc(boardFilters, func(s boardFilter) bool { return s.name == name })
	return boardFilters[max(at, 0)]
}

// rows are the projects of a part.
func (v projectsView) rows(s boardFilter) []boardRow {
	var list []boardRow
	for _, r := range v.all {
		if s.has(r) {
			list = append(list, r)
		}
	}
	return list
}

func (s boardFilter) url() templ.SafeURL {
	if s.name == "" {
		return "/"
	}
	return templ.SafeURL("/?show=" + s.name)
}

// A figure is a number above the board.
type figure struct {
	n, of string
	says  string
	bad   bool
}

// figures sum the board up.
func (v projectsView) figures() []figure {
	var failing, fresh, back, stale, undecided int
	now := time.Now()
	for _, r := range v.all {
		if r.gate() == domain.GateFailed {
			failing++
		}
		fresh += r.open.Standings[domain.StandingNew]
		back += r.open.Standings[domain.Standing(domain.StateRegressed)]
		stale += r.stale(now)
		for _, cell := range r.newest {
			if cell.Status == analysis.StatusInconclusive {
				undecided++
			}
		}
	}
	count := func(n int) string { return quantity.Count(int64(n)) }
	return []figure{
		{count(failing), " of " + count(len(v.all)), "projects with a failed gate", failing > 0},
		{count(fresh), "", "new leaks", fresh > 0},
		{count(back), "", "regressed leaks", back > 0},
		{count(stale), "", "scenarios not run for 7 days", false},
		{count(undecided), "", "inconclusive scenarios: record more evidence", false},
	}
}
