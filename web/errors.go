package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/web/api"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// statusGone is what the log shows for a client that left before its answer; nobody receives it.
const statusGone = 499

// handleError answers with an error: problem+json to programs, a page to browsers. Only errors that are meant for
// clients say what they are; the log has the others.
func (s *Server) handleError(err error, c echo.Context) {
	r := c.Request()
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		if !c.Response().Committed {
			c.Response().Status = statusGone
		}
		cut(c)
	}
	told := problem.FromError(err)
	c.Set(refusalKey, told.Code)
	if told.Status >= http.StatusInternalServerError {
		s.log.Error("web: request failed", "request", requestID(c), "method", r.Method, "path", loggedPath(c), "error", err)
	}
	if c.Response().Committed {
		// A part of the answer is on its way. To end it properly would make the client believe that it is whole.
		cut(c)
	}
	send := told.Send
	if !forProgram(r) {
		told.SetRetryAfter(c.Response().Header())
		send = func(c echo.Context) error { return ui.ErrorPage(c, told.Status, told.Code, told.Detail) }
	}
	if err := send(c); err != nil {
		s.log.Warn("web: an error could not be sent", "request", requestID(c), "error", err)
	}
}

// wasCut marks a request whose connection was cut off, for the access log.
const wasCut = "cut"

// cut ends the connection instead of the answer.
func cut(c echo.Context) {
	c.Set(wasCut, true)
	panic(http.ErrAbortHandler)
}

// forProgram reports whether a request wants errors as JSON.
func forProgram(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		return true
	}
	offers := []string{"text/html", "application/problem+json", "application/json"}
	return api.PreferredOffer(r.Header.Get("Accept"), offers...) > 0
}
