package leaks

import (
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// signatureMerge handles POST /projects/:project/signatures/:signature/merge: two signatures are one leak, or two
// again.
func (p *pages) signatureMerge(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), ui.ActorOfForm(c)
	if alias := ui.Printable(c.FormValue("split")); alias != "" {
		return p.afterForm(c, project, signature, "#aliases", p.store.MergeSignature(ctx, project, alias, "", actor))
	}
	into := strings.TrimSpace(ui.Printable(c.FormValue("into")))
	if into == "" {
		err = &leaks.FieldError{Field: "into", Message: "name the signature of the leak to merge with"}
	} else {
		err = p.store.MergeSignature(ctx, project, signature, into, actor)
	}
	return p.afterForm(c, project, signature, "#aliases", err)
}
