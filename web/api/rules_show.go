package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// rulesGet handles GET /api/v1/projects/:project/rules: the rule file, or one version of it.
func (a *API) rulesGet(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	file, err := a.rulesVersion(c, project)
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", versionTag(int64(file.Version)))
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.String(http.StatusOK, file.Text)
}

// rulesVersion is the version that the request names, else the present one.
func (a *API) rulesVersion(c echo.Context, project string) (store.RuleFile, error) {
	ctx := c.Request().Context()
	if c.QueryParam("version") == "" {
		return store.Read(ctx, a.store, func(v store.View) (store.RuleFile, error) { return v.FindRules(ctx, project) })
	}
	version, err := strconv.Atoi(c.QueryParam("version"))
	if err != nil || version < 0 {
		return store.RuleFile{}, problem.Invalid("version", "version: %q is not a version", c.QueryParam("version"))
	}
	versions, err := store.Read(ctx, a.store,
		func(v store.View) ([]store.RuleFile, error) { return v.ListRules(ctx, project) })
	if err != nil {
		return store.RuleFile{}, err
	}
	for _, v := range versions {
		if v.Version == version {
			return v, nil
		}
	}
	return store.RuleFile{}, store.ErrNotFound
}

// rulesPreview handles POST /api/v1/projects/:project/rules/preview: which signatures the rules in the body would move.
func (a *API) rulesPreview(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	text, err := readText(c, leaks.MaxRuleFileBytes)
	if err != nil {
		return err
	}
	rules, err := blame.ParseRules(text)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	trial, err := store.Read(ctx, a.store,
		func(v store.View) (*leaks.RuleTrial, error) { return v.FindRuleTrial(ctx, project) })
	if err != nil {
		return err
	}
	preview, err := trial.Preview(ctx, rules)
	if err != nil {
		return err
	}
	view := struct {
		Stacks int        `json:"stacks"` // of recent runs, that leak or grow
		Moves  []moveView `json:"moves"`  // most stacks first
		impactView
	}{preview.Stacks, []moveView{}, viewOfImpact(&preview.Impact)}
	for i := range preview.Moves {
		m := &preview.Moves[i]
		view.Moves = append(view.Moves, moveView{
			From: movedView{m.From.ID, m.From.Title, m.FromBlame, string(m.FromOrigin)},
			To:   movedView{m.To.ID, m.To.Title, m.ToBlame, string(m.ToOrigin)}, Stacks: m.Stacks,
		})
	}
	return fresh(c, http.StatusOK, view)
}

// moveView is a signature that would get another identity.
type moveView struct {
	From   movedView `json:"from"`
	To     movedView `json:"to"`
	Stacks int       `json:"stacks"`
}

type movedView struct {
	Signature string `json:"signature"`
	Title     string `json:"title"`
	Blame     string `json:"blame"`
	Layer     string `json:"layer"`
}
