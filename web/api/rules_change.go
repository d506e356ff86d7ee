package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// rulesReceipt is the answer to a change of rules.
type rulesReceipt struct {
	Version int `json:"version"`
	Runs    int `json:"runs"` // that are analysed again
}

// rulesPut handles PUT /api/v1/projects/:project/rules: the body is the rule file from now on.
func (a *API) rulesPut(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	note, err := textParam(c, "note")
	if err != nil {
		return err
	}
	version, err := ifMatch(c)
	if err != nil {
		return err
	}
	text, err := readText(c, leaks.MaxRuleFileBytes)
	if err != nil {
		return err
	}
	file, runs, err := a.store.CreateRules(c.Request().Context(), project,
		store.RuleChange{Text: text, Author: actor, Note: note, Version: version})
	if err != nil {
		return conflicting(c, err)
	}
	c.Response().Header().Set("ETag", versionTag(int64(file.Version)))
	return fresh(c, http.StatusOK, rulesReceipt{file.Version, runs})
}

// rulesImport handles POST /api/v1/projects/:project/rules/import: the body is the file of another tool; apply=1
// appends what it was translated to.
func (a *API) rulesImport(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	text, err := readText(c, leaks.MaxRuleFileBytes)
	if err != nil {
		return err
	}
	made, err := leaks.ImportRules(c.QueryParam("kind"), text)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	present, err := store.Read(ctx, a.store, func(v store.View) (store.RuleFile, error) {
		return v.FindRules(ctx, project)
	})
	if err != nil {
		return err
	}
	view := struct {
		Lines    []string              `json:"lines"`
		Rejected []problem.LineProblem `json:"rejected"`
		Saved    *rulesReceipt         `json:"saved"` // null where nothing was saved
	}{filled(made.Rules), problem.RejectedLines(&made), nil}
	if apply, _ := strconv.ParseBool(c.QueryParam("apply")); apply && len(made.Rules) > 0 {
		change := store.RuleChange{
			Text: leaks.AppendRules(present.Text, made.Rules), Author: actor, Note: "import of " + c.QueryParam("kind"),
			Version: int64(present.Version),
		}
		file, runs, err := a.store.CreateRules(ctx, project, change)
		if err != nil {
			return err
		}
		view.Saved = &rulesReceipt{file.Version, runs}
	}
	return fresh(c, http.StatusOK, view)
}
