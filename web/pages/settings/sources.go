package settings

import (
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// sourcesSet handles POST /projects/:project/settings/sources: where lines of stacks lead to, and what lies between two
// builds.
func (p *pages) sourcesSet(c echo.Context) error {
	v, err := form(c, "commits")
	if err != nil {
		return err
	}
	v.form["sources"] = strings.ToValidUTF8(c.FormValue("sources"), "")
	links, err := leaks.ParseSourceLinks(v.form["sources"], v.form["commits"])
	if err == nil {
		err = p.store.UpdateSourceLinks(c.Request().Context(), v.project, links, ui.ActorOfForm(c))
	}
	return p.after(c, v, err, string(ui.SettingsURL(v.project))+"#sources")
}
