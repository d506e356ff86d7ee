package leaks

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/store"
	"heapdrift/web/api"
	"heapdrift/web/pages/ui"
)

// comparedRows is how many rows of each table of a comparison the page shows.
const comparedRows = 100

// compare handles GET /projects/:project/compare: two builds, those that base= and head= name, in a scenario.
func (p *pages) compare(c echo.Context) error {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	builds, err := p.store.BuildsOf(ctx, project)
	if err != nil {
		return err
	}
	v := compareView{Frame: ui.FrameOf(c, "Compare builds of "+project), project: project, scenarios: ui.ScenariosOf(builds)}
	v.Crumbs = []ui.Crumb{{Text: project, URL: ui.ProjectURL(project)}, {Text: "Compare"}}
	v.chosenBase, v.chosenHead = compareParam(c, "base"), compareParam(c, "head")
	v.scenario = cmp.Or(compareParam(c, "scenario"), newestScenario(builds))
	for _, b := range builds {
		v.builds = append(v.builds, b.Name)
	}
	if v.baseline, err = p.store.Baseline(ctx, project); err != nil {
		return err
	}
	if v.scenario == "" {
		v.problem = "No run of the project has a result yet."
		return ui.Render(c, http.StatusOK, comparePage(v))
	}
	compared, err := api.CompareSides(ctx, p.store, api.Sides{Project: project, Scenario: v.scenario, Base: v.chosenBase, Head: v.chosenHead})
	var known *api.Problem
	switch {
	case errors.Is(err, store.ErrNotFound):
		v.problem = "One of the builds has no run of this scenario."
	case errors.As(err, &known) && known.Status < http.StatusInternalServerError:
		v.problem = strings.ToUpper(known.Detail[:1]) + known.Detail[1:] + "."
	case err != nil:
		return err
	default:
		v.comparison, v.base, v.head, v.why = compared.Comparison, compared.Base, compared.Head, compared.Why
		v.titles = titlesOf(compared)
	}
	return ui.Render(c, http.StatusOK, comparePage(v))
}

// compareParam is a name in the address of a comparison.
func compareParam(c echo.Context, name string) string {
	return strings.TrimSpace(ui.Printable(c.QueryParam(name)))
}

// newestScenario is that of the newest run with a result, of one that two builds can be compared in where there is any.
func newestScenario(builds []store.Build) string {
	newest, seen := "", map[string]int{} // in how many builds
	for _, b := range builds {
		here := map[string]bool{}
		for _, r := range b.Runs {
			if r.AnalysedAt != nil && !here[r.Scenario] {
				here[r.Scenario] = true
				seen[r.Scenario]++
				newest = cmp.Or(newest, r.Scenario)
			}
		}
	}
	for _, b := range builds {
		for _, r := range b.Runs {
			if seen[r.Scenario] > 1 {
				return r.Scenario
			}
		}
	}
	return newest
}

type compareView struct {
	ui.Frame
	project                string
	chosenBase, chosenHead string // "" where the server chooses
	scenario               string
	builds, scenarios      []string
	baseline               string // that is pinned; "" for none
	problem                string // why there is no comparison
	why                    string // how the base was found
	base, head             *compare.Side
	comparison             *compare.Comparison
	titles                 map[string]string // of the signatures of suggestions
}

// titlesOf are the titles of the signatures that may be one leak.
func titlesOf(c *api.Compared) map[string]string {
	titles := map[string]string{}
	for _, r := range c.Renames {
		titles[r.Base], titles[r.Head] = r.Base, r.Head
	}
	for _, side := range []*compare.Side{c.Base, c.Head} {
		for i := range side.Findings {
			f := &side.Findings[i]
			if _, asked := titles[f.Signature]; asked {
				titles[f.Signature] = f.Title
			}
		}
	}
	return titles
}
