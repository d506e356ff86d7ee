package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// uploadOptions handles OPTIONS /api/v1/evidence: what of tus this server speaks.
func (a *API) uploadOptions(c echo.Context) error {
	header := c.Response().Header()
	header.Set(headerVersion, tusVersion)
	header.Set("Tus-Extension", tusExtensions)
	if limit := a.intake.MaxBytes; limit > 0 {
		header.Set("Tus-Max-Size", strconv.FormatInt(limit, 10))
	}
	return c.NoContent(http.StatusNoContent)
}
