package run

import (
	"net/http"
	"strings"

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

// holdSet handles POST /runs/:id/hold: it places a legal hold, or lifts it.
func (p *pages) holdSet(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if c.FormValue("lift") != "" {
		err = p.store.DeleteRunHold(ctx, id, ui.ActorOfForm(c))
	} else {
		err = p.store.CreateRunHold(ctx, id, strings.TrimSpace(ui.Printable(c.FormValue("reason"))), ui.ActorOfForm(c))
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(id)))
}
