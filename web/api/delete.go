package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// runDelete handles DELETE /api/v1/runs/:id: the run with its evidence and its result.
func (a *API) runDelete(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	return a.deleted(c, func(by string) error { return a.store.DeleteRun(c.Request().Context(), id, by) })
}

// evidenceDelete handles DELETE /api/v1/runs/:id/evidence/:file: a file, and what was read of it; the run is analysed
// again.
func (a *API) evidenceDelete(c echo.Context) error {
	run, file, err := fileOfRun(c)
	if err != nil {
		return err
	}
	return a.deleted(c, func(by string) error { return a.store.DeleteEvidence(c.Request().Context(), run, file, by) })
}

// buildDelete handles DELETE /api/v1/projects/:project/builds/:build: the build with its runs.
func (a *API) buildDelete(c echo.Context) error {
	project, build, err := buildOf(c)
	if err != nil {
		return err
	}
	return a.deleted(c, func(by string) error { return a.store.DeleteBuild(c.Request().Context(), project, build, by) })
}

// projectDelete handles DELETE /api/v1/projects/:project: the project with all that it holds.
func (a *API) projectDelete(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	return a.deleted(c, func(by string) error { return a.store.DeleteProject(c.Request().Context(), project, by) })
}

// deleted deletes something on behalf of whoever asks.
func (a *API) deleted(c echo.Context, remove func(by string) error) error {
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if err := remove(by); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// fileOfRun is the run and the file in the address; anything else than numbers names none.
func fileOfRun(c echo.Context) (run, file int64, err error) {
	if run, err = runID(c); err != nil {
		return 0, 0, err
	}
	if file, err = strconv.ParseInt(c.Param("file"), 10, 64); err != nil {
		return 0, 0, store.ErrNotFound
	}
	return run, file, nil
}
