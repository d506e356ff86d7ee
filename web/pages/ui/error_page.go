package ui

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// ErrorPage answers a browser with an error: status, the stable code, and a message for people.
func ErrorPage(c echo.Context, status int, code, message string) error {
	title := http.StatusText(status)
	switch status {
	case http.StatusNotFound:
		title = "Page not found"
	case http.StatusInternalServerError:
		title = "Internal error"
	}
	return Render(c, status,
		errorPage(FrameOf(c, title), status, code, message, c.Response().Header().Get(echo.HeaderXRequestID)))
}
