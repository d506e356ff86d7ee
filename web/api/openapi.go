package api

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/web/compress"
	"heapdrift/web/etag"
)

// OpenAPISpec is the OpenAPI 3 description of this API.
//
//go:embed openapi.yaml
var OpenAPISpec []byte

var specTag = etag.OfBody(OpenAPISpec)

// openapi handles GET /api/v1/openapi.yaml.
func (a *API) openapi(c echo.Context) error {
	header := c.Response().Header()
	header.Set("ETag", specTag)
	header.Set("Cache-Control", "no-cache")
	compress.Vary(header, "Accept-Encoding")
	if etag.IsKnown(c.Request(), specTag) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, "application/yaml", OpenAPISpec)
}
