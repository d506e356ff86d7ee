package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// uploadDelete handles DELETE /api/v1/evidence/:id: the client gives the upload up. Evidence that it has become stays.
func (a *API) uploadDelete(c echo.Context) error {
	id, err := uploadID(c)
	if err != nil {
		return err
	}
	release, err := a.claims.take(c.Request().Context(), id)
	if err != nil {
		return err
	}
	defer release()
	if err := a.terminate(context.WithoutCancel(c.Request().Context()), id, nil); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
