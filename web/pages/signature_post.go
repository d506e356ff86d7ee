package pages

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/api"
)

// maxForm is how long a form without files may be, in bytes.
const maxForm = 64 << 10

// parseForm reads a form without files, of at most so many bytes.
func parseForm(c echo.Context, most int) error {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, int64(most))
	err := r.ParseForm()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &api.Problem{Status: http.StatusRequestEntityTooLarge, Code: "too-large", Detail: "the form takes at most " + strconv.Itoa(most) + " bytes"}
	case err != nil:
		return broken(err)
	}
	return nil
}

// signaturePost handles POST /projects/:project/signatures/:signature: the buttons that change what the team says.
func (p *pages) signaturePost(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := parseForm(c, maxForm); err != nil {
		return err
	}
	change, err := triageOf(c)
	if err == nil {
		change.Actor = actorOfForm(c)
		_, err = p.store.ChangeTriage(c.Request().Context(), project, signature, change)
	}
	return p.afterForm(c, project, signature, "", err)
}

// triageOf reads the form of a change.
func triageOf(c echo.Context) (store.TriageChange, error) {
	value := func(name string) string { return strings.TrimSpace(printable(c.FormValue(name))) }
	var change store.TriageChange
	version, err := strconv.ParseInt(c.FormValue("version"), 10, 64)
	if err != nil || version < 0 {
		return change, &store.TargetError{Field: "version", Message: "the form says not what it was made of; reload the page"}
	}
	change.Version = version
	yes := true
	switch c.FormValue("do") {
	case "assign":
		assignee, ticket := value("assignee"), value("ticket")
		change.Assignee, change.Ticket = &assignee, &ticket
	case "known":
		change.Known, err = api.KnownOf(value("reason"), value("until"), value("until_build"))
	case "fixed":
		build := value("fixed_in")
		change.Fixed = &build
	case "open":
		change.Reopen = true
	case "not-leak":
		change.NotLeak = &yes
	default:
		err = &store.TargetError{Field: "do", Message: "the form names no change"}
	}
	return change, err
}

// signatureComment handles POST /projects/:project/signatures/:signature/comments.
func (p *pages) signatureComment(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := parseForm(c, maxForm); err != nil {
		return err
	}
	text, err := api.CleanText(c.FormValue("text"))
	if err == nil {
		_, err = p.store.AddComment(c.Request().Context(), project, signature, actorOfForm(c), text)
	}
	return p.afterForm(c, project, signature, "#comments", err)
}

// signatureMerge handles POST /projects/:project/signatures/:signature/merge: two signatures are one leak, or two again.
func (p *pages) signatureMerge(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := parseForm(c, maxForm); err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), actorOfForm(c)
	if alias := printable(c.FormValue("split")); alias != "" {
		return p.afterForm(c, project, signature, "#aliases", api.MergeInto(ctx, p.store, project, alias, "", actor))
	}
	into := strings.TrimSpace(printable(c.FormValue("into")))
	if into == "" {
		err = &store.TargetError{Field: "into", Message: "name the signature that it is the same leak as"}
	} else {
		err = api.MergeInto(ctx, p.store, project, signature, into, actor)
	}
	return p.afterForm(c, project, signature, "#aliases", err)
}

// afterForm leads back to the page of the signature, or shows there why nothing was changed.
func (p *pages) afterForm(c echo.Context, project, signature, anchor string, err error) error {
	if err == nil {
		return c.Redirect(http.StatusSeeOther, string(signatureURL(project, signature))+anchor)
	}
	if errors.Is(err, store.ErrNotFound) {
		return err
	}
	problem := api.ProblemOf(err)
	if problem.Status >= http.StatusInternalServerError {
		return err
	}
	return p.sendSignature(c, problem.Status, project, signature, &refusal{problem.Field, problem.Detail})
}
