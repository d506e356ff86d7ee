package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/problem"
)

// recordingPut handles PUT /api/v1/runs/:id/recording: what heapdrift record and watch say of the run that they push:
// which settings are changed on the machine, and whether more is to come.
func (a *API) recordingPut(c echo.Context) error {
	run, err := runID(c)
	if err != nil {
		return err
	}
	var state leaks.RecordingState
	if err := readJSON(c, &state); err != nil {
		return err
	}
	if err := state.Check(); err != nil {
		return err
	}
	if err := a.store.UpdateRecording(c.Request().Context(), run, &state); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// restoredPost handles POST /api/v1/projects/:project/restored: nothing is changed on a host any more.
func (a *API) restoredPost(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	var body struct {
		Host string `json:"host"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.Host == "" || !leaks.IsSingleLine(body.Host) {
		return problem.Invalid("host", "host: name the machine")
	}
	if err := a.store.UpdateRestored(c.Request().Context(), project, body.Host, time.Now()); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
