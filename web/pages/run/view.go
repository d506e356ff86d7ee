package run

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
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
		done, err := p.prepare(ctx, c, id)
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
		done() // others wait for it, and a client may be slow
		switch {
		case err != nil:
			return err
		case a.page == nil:
			return c.Redirect(http.StatusSeeOther, string(a.to))
		}
		return ui.Render(c, http.StatusOK, a.page)
	}
}

// prepare does what the window that an address names has to wait for, unless its numbers are kept already.
func (p *pages) prepare(ctx context.Context, c echo.Context, run int64) (done func(), err error) {
	nothing := func() {}
	if p.windows == nil || c.QueryParam("from") == "" && c.QueryParam("to") == "" {
		return nothing, nil
	}
	var report *analysis.Report
	var key string
	err = p.store.View(ctx, func(v store.View) (err error) {
		if key, _, err = v.TraceReport(ctx, run); err == nil {
			report, err = v.Summary(ctx, run)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && report.Trace == nil {
		return nothing, nil // the page says what is wrong
	}
	if err != nil {
		return nil, err
	}
	if w := listingOf(run, c, report.Trace).window; !w.part || p.windowed.take(windowKey{run, key, w.Window}) != nil {
		return nothing, nil
	}
	return p.windows.Prepare(ctx, run)
}
