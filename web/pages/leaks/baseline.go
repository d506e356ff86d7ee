package leaks

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/web/pages/ui"
)

// baselinePost handles POST /projects/:project/baseline: the buttons that pin a build for others to be compared with.
func (p *pages) baselinePost(c echo.Context) error {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	if err := p.store.UpdateBaseline(c.Request().Context(), project, ui.Printable(c.FormValue("build")),
		c.FormValue("do") != "unpin"); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.CompareURL(project, "", "", "")))
}
