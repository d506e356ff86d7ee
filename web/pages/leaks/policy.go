package leaks

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// policy handles GET /projects/:project/policy: when gates fail, in sentences and to edit; version= shows an older one.
func (p *pages) policy(c echo.Context) error {
	v, err := p.policyView(c, nil)
	if err != nil {
		return err
	}
	v.saved = c.QueryParam("saved") != ""
	if version, err := strconv.Atoi(c.QueryParam("version")); err == nil {
		for i := range v.versions {
			if v.versions[i].Version == version {
				if err := v.show(&v.versions[i]); err != nil {
					return err
				}
			}
		}
	}
	return ui.Render(c, http.StatusOK, policyPage(v))
}

type policyView struct {
	ui.Frame
	project  string
	text     string // in the editor
	note     string
	actor    string
	current  int // version; 0 for none saved yet
	shown    int // version in the editor
	meaning  []policyMeaning
	versions []store.PolicyFile
	saved    bool
	conflict bool
	wrong    string
	impact   *leaks.Impact
}

// A policyMeaning is the policy of a scenario in sentences.
type policyMeaning struct {
	scenario  string // "" for all that have none of their own
	sentences []string
}

// meaningOf says what policies of a version mean, the default first.
func meaningOf(p *leaks.Policies, version int) []policyMeaning {
	list := []policyMeaning{{"", p.Default.Sentences(version)}}
	for _, name := range slices.Sorted(maps.Keys(p.Scenarios)) {
		own := p.Scenarios[name]
		list = append(list, policyMeaning{name, own.Sentences(version)})
	}
	return list
}

// show puts a version into the editor.
func (v *policyView) show(f *store.PolicyFile) error {
	text, err := f.Policies.JSON()
	v.text, v.shown, v.meaning = string(text), f.Version, meaningOf(&f.Policies, f.Version)
	return err
}

// policyView reads the policies of the project in the address, and in the same View what also reads; nil for nothing.
func (p *pages) policyView(c echo.Context, also func(from store.View, project string) error) (policyView, error) {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return policyView{}, err
	}
	v := policyView{Frame: ui.FrameOf(c, "Policy of "+project), project: project, actor: ui.RememberedActor(c)}
	v.Crumbs = []ui.Crumb{{Text: project, URL: ui.ProjectURL(project)}, {Text: "Policy"}}
	ctx := c.Request().Context()
	var present store.PolicyFile
	err = p.store.View(ctx, func(from store.View) (err error) {
		if present, err = from.FindPolicy(ctx, project); err != nil {
			return err
		}
		if v.versions, err = from.ListPolicies(ctx, project); err != nil || also == nil {
			return err
		}
		return also(from, project)
	})
	if err != nil {
		return v, err
	}
	v.current = present.Version
	return v, v.show(&present)
}

// policyPost handles POST /projects/:project/policy: the buttons that try and that save what is in the editor.
func (p *pages) policyPost(c echo.Context) error {
	if err := ui.ParseForm(c, 3*leaks.MaxPoliciesBytes+ui.MaxFormBytes); err != nil { // the form escapes what is no letter
		return err
	}
	ctx, save := c.Request().Context(), c.FormValue("do") == "save"
	text, err := leaks.NormalizeLines(c.FormValue("text"))
	var made leaks.Policies
	if err == nil {
		made, err = leaks.ParsePolicies([]byte(text))
	}
	var impact *leaks.Impact
	v, failed := p.policyView(c, tryPolicy(ctx, made, err == nil && !save, &impact))
	if failed != nil {
		return failed
	}
	v.text, v.note, v.impact = c.FormValue("text"), strings.TrimSpace(ui.Printable(c.FormValue("note"))), impact
	version, wrong := strconv.ParseInt(c.FormValue("version"), 10, 32)
	if wrong != nil || version < 0 {
		return problem.New(http.StatusUnprocessableEntity, "invalid-form",
			"the form is out of date; reload the page")
	}
	actor := ui.ActorOfForm(c)
	if err == nil {
		v.meaning = meaningOf(&made, v.current+1)
		if save {
			_, err = p.store.CreatePolicy(ctx, v.project,
				store.PolicyChange{Policies: made, Author: actor, Note: v.note, Version: version})
			if err == nil {
				return c.Redirect(http.StatusSeeOther, string(ui.PolicyURL(v.project))+"?saved=1")
			}
		}
	}
	return policyAgain(c, v, err)
}

// tryPolicy reads what policies would change, where that is asked.
func tryPolicy(ctx context.Context, made leaks.Policies, asked bool,
	into **leaks.Impact) func(store.View, string) error {
	if !asked {
		return nil
	}
	return func(from store.View, project string) (err error) {
		*into, err = from.PreviewPolicy(ctx, project, made)
		return err
	}
}

// policyAgain shows the editor with what became of the form.
func policyAgain(c echo.Context, v policyView, err error) error {
	if err == nil {
		return ui.Render(c, http.StatusOK, policyPage(v))
	}
	told := problem.FromError(err)
	switch {
	case told.Status >= http.StatusInternalServerError:
		return err
	case errors.Is(err, store.ErrConflict):
		v.conflict = true
	default:
		v.wrong = told.Detail
	}
	return ui.Render(c, told.Status, policyPage(v))
}

// lines are the versions as the page lists them.
func (v policyView) lines() []version {
	list := make([]version, len(v.versions))
	for i := range v.versions {
		f := &v.versions[i]
		list[i] = version{f.Version, ui.PolicyVersionURL(v.project, f.Version), f.Note, f.Author, f.Verified, f.At}
	}
	return list
}
