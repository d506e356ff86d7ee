package pages

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/worker/analysis"
)

// run handles GET /runs/:id: the report of a run, or the stages on the way to it, or both where more evidence came.
// htmx asks for the table of sites alone.
func (p *pages) run(c echo.Context) error {
	run, err := p.runByParam(c)
	if err != nil {
		return err
	}
	l := listingOf(run.ID, c)
	if isFragment(c) && run.AnalysedAt != nil {
		return p.siteTable(c, run, l)
	}
	ctx := c.Request().Context()
	view := runView{frame: frameOf(c, runTitle(run)), run: run}
	view.crumbs, view.upload, view.refresh = runCrumbs(run), targetOfRun(run), run.State() == "processing"
	view.scripts = []string{"vendor/sse.js"}
	if view.evidence, err = p.store.EvidenceOfRun(ctx, run.ID); err != nil {
		return err
	}
	if view.progress, err = p.progress(ctx, run, view.evidence); err != nil {
		return err
	}
	if run.AnalysedAt != nil {
		if view.report, err = p.report(c, run, l); err != nil {
			return err
		}
		view.scripts = append(view.scripts, dropScripts...)
	}
	return render(c, http.StatusOK, runPage(view))
}

// dropScripts make a page take symbol files.
var dropScripts = []string{"vendor/tus.min.js", "queue.js", "symbols.js"}

// A runView is what the page of a run shows. report is nil before the first result.
type runView struct {
	frame
	run      store.Run
	evidence []store.Evidence
	progress progress
	report   *reportView
}

// A reportView is a report with the page of its sites that the address chooses.
type reportView struct {
	*analysis.Report
	chart chart
	top   *store.SiteRow // the site that grew most; nil without sites
	table siteTable
}

func (p *pages) report(c echo.Context, run store.Run, l listing) (*reportView, error) {
	ctx := c.Request().Context()
	summary, err := p.store.Summary(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	if len(summary.Snapshots) == 0 {
		return nil, fmt.Errorf("pages: the report of run %d has no snapshot", run.ID)
	}
	top, _, err := p.store.Sites(ctx, store.SiteQuery{Run: run.ID, Limit: chartSites})
	if err != nil {
		return nil, err
	}
	view := &reportView{Report: summary, chart: newChart(summary, top)}
	if len(top) > 0 {
		view.top = &top[0]
	}
	view.table, err = p.sites(ctx, run, summary, l)
	return view, err
}

// siteTable answers htmx with the table alone.
func (p *pages) siteTable(c echo.Context, run store.Run, l listing) error {
	ctx := c.Request().Context()
	summary, err := p.store.Summary(ctx, run.ID)
	if err != nil {
		return err
	}
	table, err := p.sites(ctx, run, summary, l)
	if err != nil {
		return err
	}
	if c.Request().Header.Get("HX-Trigger") == "filter" {
		c.Response().Header().Set("HX-Replace-Url", string(table.url())) // without the empty fields of the form
	}
	return render(c, http.StatusOK, sitesAnew(table))
}

func runTitle(r store.Run) string {
	if r.AnalysedAt == nil {
		return fmt.Sprintf("Run %d: %s", r.ID, states[r.State()].word)
	}
	return fmt.Sprintf("Run %d: %s", r.ID, states[r.Status].word)
}

func runCrumbs(r store.Run) []crumb {
	return []crumb{
		{text: r.Project, url: projectURL(r.Project)},
		{text: r.Scenario, url: scenarioURL(r.Project, r.Scenario)},
		{text: fmt.Sprintf("%s, run %s", r.Build, r.Name)},
	}
}
