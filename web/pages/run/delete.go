package run

import (
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// delete handles POST /runs/:id/delete: the run goes with its files, and the project's page follows.
func (p *pages) delete(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	run, err := store.Read(ctx, p.store, func(v store.View) (store.Run, error) { return v.FindRun(ctx, id) })
	if err != nil {
		return err
	}
	if err := p.store.DeleteRun(ctx, id, ui.ActorOfForm(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.ProjectURL(run.Project)))
}

// evidenceURL is a file of a run as it was uploaded.
func evidenceURL(run, file int64) templ.SafeURL {
	return templ.SafeURL(fmt.Sprintf("/api/v1/runs/%d/evidence/%d", run, file))
}
