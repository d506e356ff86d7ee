package run

import (
	"context"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// A reader reads all that a page shows from one View: its report is not replaced under it.
type reader struct {
	store.View
	windows  Windows // nil for none
	windowed *windowCache
}

// An answer is what a request gets once the View has ended: a page or a part of one, or another address.
type answer struct {
	page templ.Component
	to   templ.SafeURL // where page is nil
}

// inView makes a page in one View and sends it when that has ended: a slow client holds no snapshot.
func (p *pages) inView(show func(context.Context, echo.Context, *reader, store.Run) (answer, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := ui.RunInPath(c)
		if err != nil {
			return err
		}
		ctx := c.Request().Context()
		done, err := p.turn(c)
		if err != nil {
			return err
		}
		defer done()
		a, err := store.Read(ctx, p.store, func(v store.View) (answer, error) {
			run, err := v.Run(ctx, id)
			if err != nil {
				return answer{}, err
			}
			return show(ctx, c, &reader{View: v, windows: p.windows, windowed: &p.windowed}, run)
		})
		switch {
		case err != nil:
			return err
		case a.page == nil:
			return c.Redirect(http.StatusSeeOther, string(a.to))
		}
		return ui.Render(c, http.StatusOK, a.page)
	}
}

// turn waits until the window that an address names may be computed. That takes cores and memory, so few do it at once, and none of
// those who wait holds a snapshot.
func (p *pages) turn(c echo.Context) (done func(), err error) {
	if p.windows == nil || c.QueryParam("from") == "" && c.QueryParam("to") == "" {
		return func() {}, nil
	}
	return p.windows.Turn(c.Request().Context())
}
