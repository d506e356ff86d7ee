package run

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/web/pages/symbols"
	"heapdrift/web/pages/ui"
)

// run handles GET /runs/:id: the report of a run, or the stages on the way to it, or both where more evidence came.
// htmx asks for the table of sites alone.
func (p *pages) run(c echo.Context) error {
	run, err := p.runInPath(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var summary *analysis.Report
	if run.AnalysedAt != nil {
		if summary, err = p.store.Summary(ctx, run.ID); err != nil {
			return err
		}
	}
	l := listingOf(run.ID, c, traceOf(summary))
	if ui.IsFragment(c) && summary != nil {
		if c.Request().Header.Get("HX-Target") == "totals" && summary.Trace != nil {
			return p.traceParts(c, run, summary, l)
		}
		if c.Request().Header.Get("HX-Target") == "findings" {
			return p.findingsAnew(c, run, l)
		}
		return p.siteTable(c, run, summary, l)
	}
	view := runView{Frame: ui.FrameOf(c, runTitle(run)), run: run}
	view.Crumbs, view.Upload, view.Refresh = runCrumbs(run), ui.TargetOfRun(run), run.State() == "processing"
	view.Scripts = []string{"vendor/sse.js"}
	if view.evidence, err = p.store.EvidenceOfRun(ctx, run.ID); err != nil {
		return err
	}
	if view.progress, err = p.progress(ctx, run, view.evidence); err != nil {
		return err
	}
	if summary != nil {
		if view.report, err = p.report(ctx, run, summary, l); err != nil {
			return err
		}
		if view.processes, err = p.processPanel(ctx, run, summary); err != nil {
			return err
		}
		view.Scripts = append(view.Scripts, symbols.Scripts...)
		if summary.Trace != nil {
			view.Scripts = append(view.Scripts, "trace.js")
		}
	}
	if err := p.unreplaced(ctx, run); err != nil {
		return err
	}
	return ui.Render(c, http.StatusOK, runPage(view))
}

// A runView is what the page of a run shows. report is nil before the first result.
type runView struct {
	ui.Frame
	run      store.Run
	evidence []store.Evidence
	progress progress
	report   *reportView
	// processes are for the rail of a report.
	processes processPanel
}

// A reportView is a report with the page of its sites that the address chooses.
type reportView struct {
	*analysis.Report
	chart chart          // of snapshots
	trace *traceView     // of a trace; nil for snapshots
	top   *store.SiteRow // the site that grew most; nil without sites
	leaks findingTable
	table siteTable
	// memory is what the evidence says beside sites; nil for nothing.
	memory *memoryView
}

func (p *pages) report(ctx context.Context, run store.Run, r *analysis.Report, l listing) (*reportView, error) {
	view := &reportView{Report: r, memory: memoryViewOf(run, r)}
	if len(r.Snapshots) == 0 && r.Trace == nil {
		return nil, fmt.Errorf("run: the report of run %d has no snapshot", run.ID)
	}
	top, _, err := p.store.Sites(ctx, store.SiteQuery{Run: run.ID, Limit: chartSites})
	if err != nil {
		return nil, err
	}
	if len(top) > 0 {
		view.top = &top[0]
	}
	if r.Trace == nil {
		view.chart = newChart(r, top)
	} else if view.trace, err = p.trace(ctx, run, r, &l); err != nil {
		return nil, err
	}
	if view.leaks, err = p.findings(ctx, run, l); err != nil {
		return nil, err
	}
	view.leaks.single = r.Trace == nil && len(r.Snapshots) == 1
	if view.table, err = p.sites(ctx, run, r, l, view.trace); err != nil {
		return nil, err
	}
	if view.trace != nil {
		view.trace.listing = view.table.listing
		view.trace.draw()
	}
	return view, nil
}

// siteTable answers htmx with the table alone.
func (p *pages) siteTable(c echo.Context, run store.Run, r *analysis.Report, l listing) error {
	ctx := c.Request().Context()
	var trace *traceView
	if r.Trace != nil {
		var err error
		if trace, err = p.trace(ctx, run, r, &l); err != nil {
			return err
		}
	}
	table, err := p.sites(ctx, run, r, l, trace)
	if err != nil {
		return err
	}
	if err := p.unreplaced(ctx, run); err != nil {
		return err
	}
	if c.Request().Header.Get("HX-Trigger") == "filter" {
		c.Response().Header().Set("HX-Replace-Url", string(table.url())) // without the empty fields of the form
	}
	return ui.Render(c, http.StatusOK, sitesAnew(table))
}

// findingsAnew answers htmx with the table of findings alone.
func (p *pages) findingsAnew(c echo.Context, run store.Run, l listing) error {
	ctx := c.Request().Context()
	table, err := p.findings(ctx, run, l)
	if err != nil {
		return err
	}
	if err := p.unreplaced(ctx, run); err != nil {
		return err
	}
	return ui.Render(c, http.StatusOK, findingsCard(table))
}

// traceOf is the trace of a report, nil where there is none.
func traceOf(r *analysis.Report) *analysis.Trace {
	if r == nil {
		return nil
	}
	return r.Trace
}

func runTitle(r store.Run) string {
	if r.AnalysedAt == nil {
		return fmt.Sprintf("Run %d: %s", r.ID, ui.StatusText(r.State()))
	}
	return fmt.Sprintf("Run %d: %s", r.ID, ui.StatusText(r.Status))
}

func runCrumbs(r store.Run) []ui.Crumb {
	return []ui.Crumb{
		{Text: r.Project, URL: ui.ProjectURL(r.Project)},
		{Text: r.Scenario, URL: ui.ScenarioURL(r.Project, r.Scenario)},
		{Text: fmt.Sprintf("%s, run %s", r.Build, r.Name)},
	}
}
