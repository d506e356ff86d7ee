package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// runSymbolise handles POST /api/v1/runs/:id/symbolise: look for the run's symbols again. It answers with the run.
func (a *API) runSymbolise(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	if err := a.store.CreateSymboliseJob(c.Request().Context(), id); err != nil {
		return err
	}
	return a.sendRun(c, http.StatusAccepted, id)
}
