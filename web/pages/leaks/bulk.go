package leaks

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// mostPicked is how many signatures may be changed at once: more than a page of the list has.
const mostPicked = 200

// pickOf names a signature and the version of the team's word that stands in the list.
func pickOf(s *store.SignatureRow) string { return s.Text + "@" + strconv.FormatInt(s.Version, 10) }

// picksOf reads what was picked. Its error is a *leaks.FieldError.
func picksOf(values []string) ([]store.PickedSignature, error) {
	if len(values) == 0 || len(values) > mostPicked {
		return nil, &leaks.FieldError{Field: "pick", Message: "select between 1 and " + strconv.Itoa(mostPicked) +
			" leaks of the list"}
	}
	picks := make([]store.PickedSignature, len(values))
	for i, value := range values {
		signature, at, _ := strings.Cut(value, "@")
		version, err := strconv.ParseInt(at, 10, 64)
		if err != nil || version < 0 {
			return nil, &leaks.FieldError{Field: "pick", Message: "the form has no version; reload the page"}
		}
		picks[i] = store.PickedSignature{Signature: signature, Version: version}
	}
	return picks, nil
}

// signaturesPost handles POST /projects/:project/signatures: one change of all signatures that were picked from the
// list, whose address the query has.
func (p *pages) signaturesPost(c echo.Context) error {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	picks, err := picksOf(c.Request().Form["pick"])
	if err != nil {
		return err
	}
	change, err := changeOf(c.FormValue("do"), fieldOf(c))
	if err != nil {
		return err
	}
	change.Actor = ui.ActorOfForm(c)
	if c.FormValue("do") == formMine {
		change.Assignee = &change.Actor
	}
	if err := p.store.UpdateTriages(c.Request().Context(), project, picks, change); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ListingOf(project, c).url())+"#leaks-card")
}
