package upload

import (
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/intake"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// A startAnswer is what the page says of a file before it is sent. Code and message say why it would be refused.
type startAnswer struct {
	Name    string `json:"name,omitempty"`
	Packed  string `json:"packed,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// inspectStart handles POST /upload/glance: the body is the first bytes of a file, its name is in the address.
//
// The page asks the server, and does not look itself, because readers tell their formats by code: a copy of that in a
// script would call evidence what they refuse, or the other way round.
func (p *pages) inspectStart(c echo.Context) error {
	r := c.Request()
	head, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, intake.HeadBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge,
			"the first %d bytes of the file are enough", intake.HeadBytes)
	case err != nil:
		return ui.FormError(err)
	}
	seen, err := intake.InspectStart(c.QueryParam("name"), head)
	if err != nil {
		return err
	}
	answer := startAnswer{Name: seen.Name, Packed: seen.Packed}
	if seen.Refused != nil {
		answer.Code, answer.Message = seen.Refused.Code, seen.Refused.Sentence()
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.JSON(http.StatusOK, answer)
}
