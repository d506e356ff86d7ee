package project

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// projects handles GET /: all projects, or how to begin where there is none.
func (p *pages) projects(c echo.Context) error {
	ctx := c.Request().Context()
	list, err := store.Read(ctx, p.store, func(v store.View) ([]store.Project, error) { return v.Projects(ctx, accounts.From(ctx)) })
	if err != nil {
		return err
	}
	view := projectsView{Frame: ui.FrameOf(c, "Projects"), list: list, curl: ui.Target{}.Curl(c)}
	view.makes, view.uploads = accounts.From(ctx).MayEverywhere(), accounts.From(ctx).MaySomewhere(accounts.Upload)
	view.Tab = "projects"
	return ui.Render(c, http.StatusOK, projectsPage(view))
}

type projectsView struct {
	ui.Frame
	list []store.Project
	curl string
	// makes and uploads say what the reader may do somewhere.
	makes, uploads bool
}
