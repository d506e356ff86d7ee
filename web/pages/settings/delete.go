package settings

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// deleteBuild handles POST /projects/:project/settings/builds: a build with its runs, by its name.
func (p *pages) deleteBuild(c echo.Context) error {
	v, err := form(c, "build")
	if err != nil {
		return err
	}
	err = p.store.DeleteBuild(c.Request().Context(), v.project, v.form["build"], ui.ActorOfForm(c))
	if errors.Is(err, store.ErrNotFound) {
		err = &leaks.FieldError{Field: "build", Message: "the project has no build of this name"}
	}
	return p.after(c, v, err, string(ui.SettingsURL(v.project))+"#audit")
}

// delete handles POST /projects/:project/settings/delete: the project with all that it holds, once its name is typed.
func (p *pages) delete(c echo.Context) error {
	v, err := form(c, "confirm")
	if err != nil {
		return err
	}
	if v.form["confirm"] != v.project {
		return p.after(c, v, &leaks.FieldError{Field: "confirm", Message: "is not the project’s name"}, "")
	}
	if err := p.store.DeleteProject(c.Request().Context(), v.project, ui.ActorOfForm(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}
