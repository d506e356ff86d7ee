package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// rulesSaved is the answer to a change of rules.
type rulesSaved struct {
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
	text, err := readText(c, MaxRules)
	if err != nil {
		return err
	}
	file, runs, err := SaveRules(c.Request().Context(), a.store, project, RuleChange{Text: text, Author: actor, Note: note, Version: version})
	if err != nil {
		return conflicting(c, err)
	}
	c.Response().Header().Set("ETag", versionTag(int64(file.Version)))
	return fresh(c, http.StatusOK, rulesSaved{file.Version, runs})
}

// A RuleChange is a new text of a rule file. Version is the one that it was made of, −1 for any.
type RuleChange struct {
	Text, Author, Note string
	Version            int64
}

// SaveRules checks a rule file and stores it; it returns how many runs are analysed again. Its error is a *Problem where the
// rules are wrong, store.ErrConflict where somebody else was faster.
func SaveRules(ctx context.Context, s *store.Store, project string, change RuleChange) (file store.RuleFile, runs int, err error) {
	if _, err := ParseRules(change.Text); err != nil {
		return file, 0, err
	}
	if change.Version >= 0 {
		return s.SaveRules(ctx, project, change.Text, change.Author, change.Note, int(change.Version))
	}
	for range 5 {
		if file, err = s.Rules(ctx, project); err != nil {
			return file, 0, err
		}
		file, runs, err = s.SaveRules(ctx, project, change.Text, change.Author, change.Note, file.Version)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return file, runs, err
}

// rulesImport handles POST /api/v1/projects/:project/rules/import: the body is the file of another tool; apply=1 appends
// what it was translated to.
func (a *API) rulesImport(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	actor, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	text, err := readText(c, MaxRules)
	if err != nil {
		return err
	}
	lines, rejected, err := ImportRules(c.QueryParam("kind"), text)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	present, err := a.store.Rules(ctx, project)
	if err != nil {
		return err
	}
	view := struct {
		Lines    []string      `json:"lines"`
		Rejected []LineProblem `json:"rejected"`
		Saved    *rulesSaved   `json:"saved"` // null where nothing was saved
	}{filled(lines), filled(rejected), nil}
	if apply, _ := strconv.ParseBool(c.QueryParam("apply")); apply && len(lines) > 0 {
		change := RuleChange{AppendRules(present.Text, lines), actor, "import of " + c.QueryParam("kind"), int64(present.Version)}
		file, runs, err := SaveRules(ctx, a.store, project, change)
		if err != nil {
			return err
		}
		view.Saved = &rulesSaved{file.Version, runs}
	}
	return fresh(c, http.StatusOK, view)
}
