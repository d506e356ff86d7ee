package leaks

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

const (
	// comparedRows is how many rows of each table of a comparison the page shows.
	comparedRows = 100
	// offeredBuilds is how many builds, the newest ones, may be chosen from.
	offeredBuilds = 500
)

// compare handles GET /projects/:project/compare: two builds, those that base= and head= name, in a scenario.
func (p *pages) compare(c echo.Context) error {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	v := compareView{Frame: ui.FrameOf(c, "Compare builds of "+project), project: project}
	v.Crumbs = []ui.Crumb{{Text: project, URL: ui.ProjectURL(project)}, {Text: "Compare"}}
	v.chosenBase, v.chosenHead, v.scenario = compareParam(c, "base"), compareParam(c, "head"), compareParam(c, "scenario")
	ctx := c.Request().Context()
	if err := p.store.View(ctx, func(from store.View) error { return v.read(ctx, from) }); err != nil {
		return err
	}
	if v.comparison != nil {
		v.group, v.filter = groupNamed(c.QueryParam("group")), compareParam(c, "q")
		v.filter = strings.ToValidUTF8(v.filter[:min(len(v.filter), ui.MaxFilterBytes)], "")
		v.shown = matching(v.comparison, v.group, v.filter)
		v.Scripts = append(v.Scripts, ui.FlameScripts...)
	}
	return ui.Render(c, http.StatusOK, comparePage(v))
}

// A compareView is what the page of a comparison shows.
type compareView struct {
	ui.Frame
	project                string
	chosenBase, chosenHead string // "" where the server chooses
	scenario               string
	builds, scenarios      []string
	baseline               string // that is pinned; "" for none
	problem                string // why there is no comparison
	why                    string // how the base was found
	base, head             *compare.BuildResult
	commits                templ.SafeURL // what lies between them; "" where nobody says
	comparison             *compare.Comparison
	titles                 map[string]string // of the signatures of suggestions
	group                  compare.Change    // that the table is filtered by; "" for all
	filter                 string            // text in the titles of rows
	shown                  []compare.Row
}

// read reads what may be compared, and compares what is chosen.
func (v *compareView) read(ctx context.Context, from store.View) error {
	builds, err := from.ListBuildsWithResults(ctx, v.project, offeredBuilds)
	if err != nil {
		return err
	}
	for _, b := range slices.Backward(builds) {
		v.builds = append(v.builds, b.Name)
	}
	for _, chosen := range []string{v.chosenBase, v.chosenHead} { // it may be older, or have no result
		if chosen != "" && !slices.Contains(v.builds, chosen) {
			v.builds = append(v.builds, chosen)
		}
	}
	if v.scenarios, err = from.ListScenarios(ctx, v.project); err != nil {
		return err
	}
	if v.baseline, err = from.FindBaseline(ctx, v.project); err != nil {
		return err
	}
	if v.scenario == "" {
		results, err := from.ListResultScenarios(ctx, v.project, offeredBuilds)
		if err != nil {
			return err
		}
		if v.scenario = leaks.DefaultComparedScenario(results); v.scenario == "" {
			v.problem = "No run of the project has a result yet."
			return nil
		}
	}
	compared, err := from.Compare(ctx,
		leaks.ComparisonQuery{Project: v.project, Scenario: v.scenario, Base: v.chosenBase, Head: v.chosenHead})
	if errors.Is(err, store.ErrNotFound) {
		v.problem = "One of the builds has no run of this scenario."
		return nil
	}
	if err != nil {
		told := problem.FromError(err)
		if told.Status >= http.StatusInternalServerError {
			return err
		}
		v.problem = strings.ToUpper(told.Detail[:1]) + told.Detail[1:] + "."
		return nil
	}
	v.comparison, v.base, v.head, v.why = compared.Comparison, compared.Base, compared.Head, compared.Why
	v.titles = titlesOf(compared)
	links, err := from.FindSourceLinks(ctx, v.project)
	if err != nil {
		return err
	}
	v.commits, err = ui.CommitsBetween(ctx, from, links, v.project, v.base.Build, v.head.Build)
	return err
}

// pending says which runs of the comparison are not analysed to their end; "" for none.
func (v *compareView) pending() string {
	var parts []string
	for _, side := range []*compare.BuildResult{v.base, v.head} {
		if side.Pending > 0 {
			parts = append(parts, quantity.Plural(side.Pending, "run")+" of build "+side.Build)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "The analysis of " + strings.Join(parts, " and of ") + " has not ended. Its result will change this comparison."
}

// treeURL is the tree of calls of both sides.
func (v *compareView) treeURL() string {
	return "/api/v1/compare/tree?" + url.Values{"layout": {"columns"}, "project": {v.project}, "scenario": {v.scenario},
		"base": {v.base.Build}, "head": {v.head.Build}}.Encode()
}

// compareParam is a name in the address of a comparison.
func compareParam(c echo.Context, name string) string {
	return strings.TrimSpace(ui.Printable(c.QueryParam(name)))
}

// titlesOf are the titles of the signatures that may be one leak.
func titlesOf(c *leaks.RunComparison) map[string]string {
	titles := map[string]string{}
	for _, r := range c.Renames {
		titles[r.Base], titles[r.Head] = r.Base, r.Head
	}
	for _, side := range []*compare.BuildResult{c.Base, c.Head} {
		for i := range side.Findings {
			f := &side.Findings[i]
			if _, asked := titles[f.Signature]; asked {
				titles[f.Signature] = f.Title
			}
		}
	}
	return titles
}
