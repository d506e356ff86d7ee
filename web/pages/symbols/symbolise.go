package symbols

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/web/pages/ui"
)

// symbolise handles POST /runs/:id/symbolise: the button that looks for a run's symbols again.
func (p *pages) symbolise(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	if err := p.store.CreateSymboliseJob(c.Request().Context(), id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(id)))
}
