package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// runRetry handles POST /api/v1/runs/:id/retry: what failed and may end better is queued again. It answers with the
// run.
func (a *API) runRetry(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	if _, err := a.store.RetryRun(c.Request().Context(), id); err != nil {
		return err
	}
	return a.sendRun(c, http.StatusAccepted, id)
}

// runCancel handles POST /api/v1/runs/:id/cancel: what waits or runs for the run is ended. It answers with the run.
func (a *API) runCancel(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	who, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if _, err := a.store.CancelRun(c.Request().Context(), id, who); err != nil {
		return err
	}
	return a.sendRun(c, http.StatusAccepted, id)
}
