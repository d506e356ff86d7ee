package api

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// projectView is what a team says of its project, and the recordings that somebody should look after.
type projectView struct {
	Name          string                   `json:"name"`
	DefaultBranch string                   `json:"default_branch"`
	Recordings    []leaks.RecordingWarning `json:"recordings"`
}

// projectAdd handles POST /api/v1/projects: it makes an empty project. Uploads make one as well, where they may.
func (a *API) projectAdd(c echo.Context) error {
	var body struct {
		Name          string  `json:"name"`
		DefaultBranch *string `json:"default_branch"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	change := leaks.ProjectChange{Name: &body.Name, DefaultBranch: body.DefaultBranch}
	if err := change.Normalize(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if err := a.store.CreateProject(ctx, body.Name, accounts.ActorFrom(ctx).UserID, by); err != nil {
		return nameTaken(err)
	}
	if change.Name = nil; change.DefaultBranch != nil {
		if err := a.store.UpdateProject(ctx, body.Name, change, by); err != nil {
			return err
		}
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/projects/"+url.PathEscape(body.Name))
	return a.sendProject(c, http.StatusCreated, body.Name)
}

// projectShow handles GET /api/v1/projects/:project.
func (a *API) projectShow(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	return a.sendProject(c, http.StatusOK, project)
}

// projectPatch handles PATCH /api/v1/projects/:project: another name, or the branch that the others leave.
func (a *API) projectPatch(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	var body struct {
		Name          *string `json:"name"`
		DefaultBranch *string `json:"default_branch"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	change := leaks.ProjectChange{Name: body.Name, DefaultBranch: body.DefaultBranch}
	if err := a.store.UpdateProject(c.Request().Context(), project, change, by); err != nil {
		return nameTaken(err)
	}
	if change.Name != nil {
		project = *change.Name
	}
	return a.sendProject(c, http.StatusOK, project)
}

func (a *API) sendProject(c echo.Context, status int, project string) error {
	ctx := c.Request().Context()
	var recordings []leaks.StoredRecording
	p, err := store.Read(ctx, a.store, func(v store.View) (p store.ProjectSettings, err error) {
		if recordings, err = v.ListRecordingStates(ctx, project); err != nil {
			return p, err
		}
		return v.FindProjectSettings(ctx, project)
	})
	if err != nil {
		return err
	}
	return fresh(c, status, projectView{p.Name, p.DefaultBranch, leaks.RecordingWarnings(recordings,
		c.Scheme()+"://"+c.Request().Host, project, time.Now())})
}

// nameTaken names the field of the body, where the name of a project is the field that is wrong.
func nameTaken(err error) error {
	var wrong *leaks.FieldError
	if errors.As(err, &wrong) && wrong.Field == "project" {
		return problem.Invalid("name", "name: %s", wrong.Message)
	}
	return err
}
