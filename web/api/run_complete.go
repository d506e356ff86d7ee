package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// runComplete handles POST /api/v1/runs/:id/complete: no more evidence is to come. It answers with the run.
func (a *API) runComplete(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	if err := a.store.CompleteRun(c.Request().Context(), id); err != nil {
		return err
	}
	return a.sendRun(c, http.StatusOK, id)
}
