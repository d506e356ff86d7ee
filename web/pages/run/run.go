package run

import (
	"context"
	"fmt"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/accounts"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/symbols"
	"heapdrift/web/pages/ui"
)

// run handles GET /runs/:id: the report of a run, or the stages on the way to it, or both where more evidence came.
// htmx asks for the table of sites alone.
func run(ctx context.Context, c echo.Context, r *reader, run store.Run) (answer, error) {
	var summary *analysis.Report
	if run.AnalysedAt != nil {
		var err error
		if summary, err = r.FindSummary(ctx, run.ID); err != nil {
			return answer{}, err
		}
	}
	l := listingOf(run.ID, c, summary)
	if ui.IsFragment(c) && summary != nil {
		return fragment(ctx, c, r, run, summary, l)
	}
	view := runView{Frame: ui.FrameOf(c, runTitle(run)), run: run}
	view.Crumbs, view.Upload, view.Refresh = runCrumbs(run), ui.TargetOfRun(run), run.State() == leaks.RunProcessing
	view.Scripts = []string{"vendor/sse.js"}
	var err error
	if view.evidence, err = r.ListEvidence(ctx, run.ID); err != nil {
		return answer{}, err
	}
	if view.progress, err = progressOf(ctx, r.View, run, view.evidence); err != nil {
		return answer{}, err
	}
	project, err := r.FindProjectOfRun(ctx, run.ID)
	if err != nil {
		return answer{}, err
	}
	actor := accounts.ActorFrom(ctx)
	if recording, err := r.FindRecordingState(ctx, run.ID); err != nil {
		return answer{}, err
	} else if recording != nil {
		view.recording = recording.Sentence(time.Now())
	}
	if view.hold, err = r.FindRunHold(ctx, run.ID); err != nil {
		return answer{}, err
	}
	view.manages, view.changes = actor.May(accounts.Manage, project), actor.May(accounts.Change, project)
	if summary == nil {
		return answer{page: runPage(view)}, nil
	}
	if view.tests, err = r.cardTests(ctx, run.ID); err != nil {
		return answer{}, err
	}
	if view.report, err = r.report(ctx, run, summary, l); err != nil {
		return answer{}, err
	}
	counts, err := r.CountRunLeaks(ctx, []int64{run.ID})
	if err != nil {
		return answer{}, err
	}
	view.found = counts[run.ID]
	if run.SiteCount > smallReport && c.QueryParam("gate") == "" {
		view.gate.later = true
		view.gate.decideBy(&run, summary, &leaks.RunVerdict{Next: summary.Verdict.Next}, ui.ServerURL(c))
	} else if view.gate, err = r.gate(ctx, &run, summary, ui.ServerURL(c)); err != nil {
		return answer{}, err
	}
	if view.processes, err = r.processPanel(ctx, run, summary); err != nil {
		return answer{}, err
	}
	view.Scripts = append(view.Scripts, symbols.Scripts...)
	if l.view == viewFlame {
		view.Scripts = append(view.Scripts, ui.FlameScripts...)
	}
	if summary.Trace != nil || view.report.choice != nil {
		view.Scripts = append(view.Scripts, "brush.js")
	}
	return answer{page: runPage(view)}, nil
}

// fragment answers htmx with the part of a report that it asks for.
func fragment(ctx context.Context, c echo.Context, r *reader, run store.Run, summary *analysis.Report,
	l listing) (answer, error) {
	switch target := c.Request().Header.Get("HX-Target"); {
	case target == "totals" && summary.Trace != nil:
		return r.traceParts(ctx, c, run, summary, l)
	case target == "gate":
		gate, err := r.gate(ctx, &run, summary, ui.ServerURL(c))
		return answer{page: gateCard(runView{run: run, gate: gate})}, err
	case target == "views" && summary.Trace == nil:
		return r.viewOfSnapshots(ctx, c, run, summary, l)
	case target == "view":
		return r.viewAlone(ctx, c, run, summary, l)
	}
	return r.siteTable(ctx, c, run, summary, l)
}

// A runView is what the page of a run shows. report is nil before the first result.
type runView struct {
	ui.Frame
	run      store.Run
	evidence []store.Evidence
	progress progress
	report   *reportView
	gate     gateView
	found    leaks.RunLeaks
	manages  bool               // the reader may delete it
	hold     *leaks.Hold        // legal hold on the run; nil for none
	changes  bool               // the reader may say what the team knows
	tests    *store.RunTestPage // by what they left at exit, the gravest; nil without lists of tests
	// processes are for the rail of a report.
	processes processPanel
	// recording says whether settings of Windows are changed; "" where none were.
	recording string
}

// status is how the run stands: a run whose leaks are all known leaves nothing to do.
func (v runView) status() string {
	if v.run.Status == string(analysis.StatusLeak) && v.found.OnlyKnown() {
		return ui.StatusKnown
	}
	return v.run.Status
}

// confidence is the small line below the word of the verdict.
func (v runView) confidence() string {
	if v.found.Known > 0 {
		return quantity.Count(int64(v.found.Open)) + " open, " + quantity.Count(int64(v.found.Known)) + " known"
	}
	return v.report.confidence()
}

// shownSuspects is how many findings the sentence of a verdict may name.
const shownSuspects = 12

// A reportView is a report with the page of its sites that the address chooses.
type reportView struct {
	*analysis.Report
	chart snapshotChart // of snapshots
	// choice is which of the snapshots the views are of; nil of traces, and where there is nothing to choose.
	choice *snapshotChoice
	trace  *traceView     // of a trace; nil for snapshots
	top    *store.SiteRow // the site that grew most; nil without sites
	card   *viewCard      // the selection in one of its views
	// suspects are the gravest of what leaks or grows, for the sentence of the verdict.
	suspects []store.Finding
	// memory is what the evidence says beside sites; nil for nothing.
	memory *memoryView
}

func (r *reader) report(ctx context.Context, run store.Run, report *analysis.Report, l listing) (*reportView, error) {
	view := &reportView{Report: report, memory: memoryViewOf(run, report)}
	if len(report.Snapshots) == 0 && report.Trace == nil {
		return nil, fmt.Errorf("run: the report of run %d has no snapshot", run.ID)
	}
	top, _, err := r.ListSites(ctx, store.SiteQuery{RunID: run.ID, Limit: chartSites})
	if err != nil {
		return nil, err
	}
	if len(top) > 0 {
		view.top = &top[0]
	}
	bands := func(kind string) []band {
		if x := r.asked.index; x != nil && r.asked.report == run.ReportKey {
			return bandsOf(x, kind, len(report.Snapshots))
		}
		return bandsOfTop(top, kind, len(report.Snapshots))
	}
	if report.Trace == nil {
		view.chart = newSnapshotChart(report, bands(""))
		view.choice = chooseSnapshots(l, report, view.chart.marks)
	} else if view.trace, err = r.trace(ctx, run, report, &l); err != nil {
		return nil, err
	}
	if view.suspects, _, err = r.ListFindings(ctx, store.FindingQuery{RunID: run.ID, Limit: shownSuspects}); err != nil {
		return nil, err
	}
	if view.card, err = r.card(ctx, run, report, l, view.trace); err != nil {
		return nil, err
	}
	if view.trace != nil {
		view.trace.listing = view.card.listing
		view.trace.draw(bands)
	}
	return view, nil
}

// siteTable answers htmx with the table alone.
func (r *reader) siteTable(ctx context.Context, c echo.Context, run store.Run, report *analysis.Report,
	l listing) (answer, error) {
	var trace *traceView
	if report.Trace != nil {
		var err error
		if trace, err = r.trace(ctx, run, report, &l); err != nil {
			return answer{}, err
		}
	}
	table, err := r.sites(ctx, run, report, l, trace)
	if err != nil {
		return answer{}, err
	}
	if c.Request().Header.Get("HX-Trigger") == "filter" {
		c.Response().Header().Set("HX-Replace-Url", string(table.url())) // without the empty fields of the form
	}
	return answer{page: sitesAnew(table)}, nil
}

func runTitle(r store.Run) string {
	if r.AnalysedAt == nil {
		return fmt.Sprintf("Run %d: %s", r.ID, ui.StatusText(string(r.State())))
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
