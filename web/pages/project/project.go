package project

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/analysis"
	domain "heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/leaks"
	"heapdrift/web/pages/ui"
)

const (
	// buildsPage is how many builds a page of a project has.
	buildsPage = 40
	// trendBuilds is how many builds, the newest ones with results, say how a project stands.
	trendBuilds = 24
	// modulesShown is how many modules are told one by one.
	modulesShown = 8
)

// project handles GET /projects/:project: its leaks, and the builds with their runs, newest first. scenario= keeps one
// scenario of both; after= is the last build of the page before.
func (p *pages) project(c echo.Context) error {
	name, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	view := projectView{Frame: ui.FrameOf(c, name), name: name, scenario: ui.Printable(c.QueryParam("scenario"))}
	view.Crumbs = []ui.Crumb{{Text: name}}
	view.Upload = ui.Target{Project: name, Scenario: view.scenario}
	ctx := c.Request().Context()
	changes := false
	err = p.store.View(ctx, func(v store.View) error {
		query := store.BuildQuery{Project: name, Scenario: view.scenario, AfterBuild: ui.Printable(c.QueryParam("after")),
			Limit: buildsPage}
		var gone *domain.FieldError
		if view.BuildPage, err = v.ListBuilds(ctx, query); errors.As(err, &gone) { // an unknown after= shows the first page
			query.AfterBuild = ""
			view.BuildPage, err = v.ListBuilds(ctx, query)
		}
		if err != nil {
			return err
		}
		id, err := v.FindProjectID(ctx, name)
		if err != nil {
			return err
		}
		actor := accounts.ActorFrom(ctx)
		view.manages, changes = actor.May(accounts.Manage, id), actor.May(accounts.Change, id)
		if view.leaks, err = leaks.TableOf(ctx, v, leaks.ListingOf(name, c)); err != nil {
			return err
		}
		rows, err := v.ListLeakingModules(ctx, name)
		if err != nil {
			return err
		}
		view.modules = domain.SharesByModule(rows, modulesShown)
		if view.standing, err = standingOf(ctx, v, name, trendBuilds, decidedSites); err != nil {
			return err
		}
		if view.lackBranches, err = v.FindMissingBranches(ctx, name); err != nil {
			return err
		}
		if view.found, err = v.CountRunLeaks(ctx, view.runs()); err != nil {
			return err
		}
		recordings, err := v.ListRecordingStates(ctx, name)
		if err != nil {
			return err
		}
		view.recordings = domain.RecordingWarnings(recordings, ui.ServerURL(c), name, time.Now())
		policy, err := v.FindPolicy(ctx, name)
		view.trend = view.trendOf(c, &policy.Policies)
		return err
	})
	if err != nil {
		return err
	}
	view.scenarios = view.standing.coverage.Scenarios
	view.leaks.Frame, view.leaks.Changes, view.leaks.Actor = view.Frame, changes, ui.RememberedActor(c)
	for _, m := range view.modules.List {
		view.leaks.Modules = append(view.leaks.Modules, m.Module)
	}
	view.leaks.Scenarios = view.scenarios
	return ui.Render(c, http.StatusOK, projectPage(view))
}

type projectView struct {
	ui.Frame
	*store.BuildPage
	name      string
	scenario  string // kept; "" for all
	scenarios []string
	manages   bool // the reader may change its settings
	// lackBranches says which builds have no branch where others have one; "" for none.
	lackBranches string
	leaks        leaks.Table
	standing     *standing
	trend        *ui.Trend // nil where there is nothing to draw
	modules      domain.ModuleShares
	found        map[int64]domain.RunLeaks // by run of the page
	// recordings are those that somebody should look after.
	recordings []domain.RecordingWarning
}

// trendOf draws the growth of a project by its newest builds.
func (v projectView) trendOf(c echo.Context, policies *domain.Policies) *ui.Trend {
	q := ui.TrendQuery{
		Title: "Growth of all leaks", Note: "Known leaks excluded.", Coverage: v.standing.coverage,
		Policies: policies,
		Unit:     ui.Printable(c.QueryParam("per")), Linear: c.QueryParam("scale") == "linear",
		Address: func(fields ...ui.Field) templ.SafeURL {
			return ui.WithFields(ui.ProjectURL(v.name), append(v.leaks.Fields(), fields...))
		},
	}
	if v.standing.gravest != nil {
		q.LastClean, q.FirstBad = v.standing.spread.LastClean, v.standing.spread.FirstBad
		q.Between = ui.CompareURL(v.name, v.standing.of.Scenario, q.LastClean, q.FirstBad)
	}
	return ui.TrendOf(q)
}

// url is the address of a page of the list: that behind a build, or the first one.
func (v projectView) url(scenario, after string) templ.SafeURL {
	q := url.Values{}
	if scenario != "" {
		q.Set("scenario", scenario)
	}
	if after != "" {
		q.Set("after", after)
	}
	return ui.WithQuery(ui.ProjectURL(v.name), q)
}

func (v projectView) extent() string {
	return ui.RowsShown(v.RowsBefore, len(v.Builds), v.Total, "build")
}

// stateOf is the key of what a run's line says: how far it is, else the outcome.
func (v projectView) stateOf(r store.Run) string {
	switch {
	case r.State() == domain.RunReady && r.Status == string(analysis.StatusLeak) && v.found[r.ID].OnlyKnown():
		return ui.StatusKnown
	case r.State() == domain.RunReady:
		return r.Status
	}
	return string(r.State())
}

// runs are the runs of the page that have a result.
func (v projectView) runs() (list []int64) {
	for _, b := range v.Builds {
		for _, r := range b.Runs {
			if r.State() == domain.RunReady {
				list = append(list, r.ID)
			}
		}
	}
	return list
}

// summaryOf is the sentence of a run's line, behind what is new and what is known.
func (v projectView) summaryOf(r store.Run) string {
	counts := v.found[r.ID].String()
	switch {
	case r.Sentence != "" && counts != "":
		return counts + ". " + r.Sentence
	case r.Sentence != "":
		return r.Sentence
	case r.ErrorCode != "" || r.Error != "":
		return ui.AnalysisFailure(r.ErrorCode, r.Error)
	case r.FailedFiles > 0:
		return ui.FilesFailure(r.FailedFiles, r.FailedCode)
	}
	return ""
}

// targetOfBuild is where more runs of a build go.
func (v projectView) targetOfBuild(b store.Build) ui.Target {
	t := ui.Target{Project: v.name, Build: b.Name, Branch: b.Branch, Scenario: v.scenario}
	if b.Sequence != nil {
		t.Sequence = strconv.FormatInt(*b.Sequence, 10)
	}
	return t
}
