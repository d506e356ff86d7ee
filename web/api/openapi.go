package api

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Spec is the description of this API in OpenAPI 3.
//
//go:embed openapi.yaml
var Spec []byte

// openapi handles GET /api/v1/openapi.yaml.
func (a *API) openapi(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", Spec)
}
