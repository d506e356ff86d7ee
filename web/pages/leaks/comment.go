package leaks

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// signatureComment handles POST /projects/:project/signatures/:signature/comments.
func (p *pages) signatureComment(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	text, err := leaks.NormalizeLines(c.FormValue("text"))
	if err == nil {
		_, err = p.store.CreateComment(c.Request().Context(), project, signature, ui.ActorOfForm(c), text)
	}
	return p.afterForm(c, project, signature, "#comments", err)
}
