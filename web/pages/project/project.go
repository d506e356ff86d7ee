package project

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/pages/leaks"
	"heapdrift/web/pages/ui"
)

// buildsPage is how many builds a page of a project has.
const buildsPage = 40

// project handles GET /projects/:project: its leaks, and the builds with their runs, newest first; scenario= keeps one
// scenario of both.
func (p *pages) project(c echo.Context) error {
	name, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	builds, err := p.store.BuildsOf(c.Request().Context(), name)
	if err != nil {
		return err
	}
	view := projectView{Frame: ui.FrameOf(c, name), name: name, scenario: ui.Printable(c.QueryParam("scenario")), page: 1}
	view.Crumbs = []ui.Crumb{{Text: name}}
	view.Upload = ui.Target{Project: name, Scenario: view.scenario}
	view.scenarios = ui.ScenariosOf(builds)
	builds = ofScenario(builds, view.scenario)
	view.pages = (len(builds) + buildsPage - 1) / buildsPage
	if n, err := strconv.Atoi(c.QueryParam("page")); err == nil {
		view.page = max(1, min(n, view.pages))
	}
	if view.leaks, err = leaks.TableOf(c.Request().Context(), p.store, leaks.ListingOf(name, c)); err != nil {
		return err
	}
	view.leaks.Scenarios = view.scenarios
	view.total = len(builds)
	view.builds = builds[min(len(builds), (view.page-1)*buildsPage):min(len(builds), view.page*buildsPage)]
	return ui.Render(c, http.StatusOK, projectPage(view))
}

type projectView struct {
	ui.Frame
	name        string
	scenario    string // kept; "" for all
	scenarios   []string
	builds      []store.Build // of this page
	total       int           // builds on all pages
	leaks       leaks.Table
	page, pages int
}

// url is the address of a page of the list.
func (v projectView) url(scenario string, page int) templ.SafeURL {
	q := url.Values{}
	if scenario != "" {
		q.Set("scenario", scenario)
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	return ui.WithQuery(ui.ProjectURL(v.name), q)
}

func (v projectView) extent() string {
	first := (v.page-1)*buildsPage + 1
	if v.pages < 2 {
		return ui.Counted(v.total, "build")
	}
	return fmt.Sprintf("builds %d–%d of %d", first, first+len(v.builds)-1, v.total)
}

// stateOf is the key of what a run's line says: how far it is, else the outcome.
func stateOf(r store.Run) string {
	if r.State() == "ready" {
		return r.Status
	}
	return r.State()
}

// summaryOf is the sentence of a run's line.
func summaryOf(r store.Run) string {
	switch {
	case r.Sentence != "":
		return r.Sentence
	case r.Error != "":
		return r.Error
	case r.Failed > 0:
		return ui.Counted(r.Failed, "file") + " could not be read"
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

// ofScenario keeps the runs of one scenario and the builds that have any.
func ofScenario(builds []store.Build, scenario string) []store.Build {
	if scenario == "" {
		return builds
	}
	var kept []store.Build
	for _, b := range builds {
		b.Runs = slices.DeleteFunc(slices.Clone(b.Runs), func(r store.Run) bool { return r.Scenario != scenario })
		if len(b.Runs) > 0 {
			kept = append(kept, b)
		}
	}
	return kept
}
