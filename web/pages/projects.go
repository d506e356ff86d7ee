package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// projects handles GET /: all projects, or how to begin where there is none.
func (p *pages) projects(c echo.Context) error {
	list, err := p.store.Projects(c.Request().Context())
	if err != nil {
		return err
	}
	view := projectsView{frame: frameOf(c, "Projects"), list: list, curl: target{}.curl(server(c))}
	view.tab = "projects"
	return render(c, http.StatusOK, projectsPage(view))
}

type projectsView struct {
	frame
	list []store.Project
	curl string
}

// server is the address under which the reader reaches this server.
func server(c echo.Context) string { return c.Scheme() + "://" + c.Request().Host }
