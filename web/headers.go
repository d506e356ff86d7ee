package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/web/problem"
)

// policy lets pages load from this server only; no script or style stands in a page.
const policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// headers sets what every answer carries.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		return next(c)
	}
}

var crossOrigin = http.NewCrossOriginProtection()

// sameOrigin refuses requests that change something and that a browser sends on behalf of another site.
func sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := crossOrigin.Check(c.Request()); err != nil {
			return problem.New(http.StatusForbidden, "cross-origin", "the request comes from a page of another site")
		}
		return next(c)
	}
}
