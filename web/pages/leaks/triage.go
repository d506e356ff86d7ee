package leaks

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// signaturePost handles POST /projects/:project/signatures/:signature: the buttons that change what the team says.
func (p *pages) signaturePost(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxForm); err != nil {
		return err
	}
	change, err := triageOf(c)
	if err == nil {
		change.Actor = ui.ActorOfForm(c)
		_, err = p.store.ChangeTriage(c.Request().Context(), project, signature, change)
	}
	return p.afterForm(c, project, signature, "", err)
}

// triageOf reads the form of a change.
func triageOf(c echo.Context) (leaks.Change, error) {
	version, err := strconv.ParseInt(c.FormValue("version"), 10, 64)
	if err != nil || version < 0 {
		return leaks.Change{}, &leaks.FieldError{Field: "version", Message: "the form says not what it was made of; reload the page"}
	}
	change, err := changeOf(c)
	change.Version = version
	return change, err
}

// changeOf reads the change that the buttons of a form name. A field that the form does not have stays as it is.
func changeOf(c echo.Context) (change leaks.Change, err error) {
	value := func(name string) string { return strings.TrimSpace(ui.Printable(c.FormValue(name))) }
	yes := true
	switch c.FormValue("do") {
	case "assign":
		assignee := value("assignee")
		change.Assignee = &assignee
		if c.Request().Form.Has("ticket") {
			ticket := value("ticket")
			change.Ticket = &ticket
		}
	case "mine": // the caller knows who that is
	case "known":
		change.Known, err = leaks.KnownOf(value("reason"), value("until"), value("until_build"))
	case "fixed":
		build := value("fixed_in")
		change.Fixed = &build
	case "open":
		change.Reopen = true
	case "not-leak":
		change.NotLeak = &yes
	default:
		err = &leaks.FieldError{Field: "do", Message: "the form names no change"}
	}
	return change, err
}

// afterForm leads back to the page of the signature, or shows there why nothing was changed.
func (p *pages) afterForm(c echo.Context, project, signature, anchor string, err error) error {
	if err == nil {
		return c.Redirect(http.StatusSeeOther, string(ui.SignatureURL(project, signature))+anchor)
	}
	if errors.Is(err, store.ErrNotFound) {
		return err
	}
	told := problem.Of(err)
	if told.Status >= http.StatusInternalServerError {
		return err
	}
	return p.sendSignature(c, told.Status, project, signature, &refusal{told.Field, told.Detail})
}
