package settings

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/web/pages/ui"
)

// projectAdd handles POST /projects: an empty project, so that it has tokens before it has evidence.
func (p *pages) projectAdd(c echo.Context) error {
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	name := strings.TrimSpace(ui.Printable(c.FormValue("project")))
	ctx := c.Request().Context()
	if err := p.store.CreateProject(ctx, name, accounts.ActorFrom(ctx).UserID, ui.ActorOfForm(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.SettingsURL(name)))
}

// rename handles POST /projects/:project/settings/rename.
func (p *pages) rename(c echo.Context) error {
	v, err := form(c, "to")
	if err != nil {
		return err
	}
	err = p.store.UpdateProjectName(c.Request().Context(), v.project, v.form["to"], ui.ActorOfForm(c))
	return p.after(c, v, err, string(ui.SettingsURL(v.form["to"])))
}
