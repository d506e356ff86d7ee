package run

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// A reader reads all that a page shows from one View: its report is not replaced under it.
type reader struct {
	store.View
	windows  WindowAnswers // nil for none
	windowed *windowCache
	asked    asked
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
		ready, done, err := p.prepare(ctx, c, id)
		if err != nil {
			return err
		}
		defer done()
		a, err := store.Read(ctx, p.store, func(v store.View) (answer, error) {
			run, err := v.FindRun(ctx, id)
			if err != nil {
				return answer{}, err
			}
			return show(ctx, c, &reader{View: v, windows: p.windows, windowed: &p.windowed, asked: ready}, run)
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

// asked is what a selection is answered from: the index of the report of that key, and the trace's table where single
// allocations are looked at. Both are nil where they are not at hand.
type asked struct {
	report string
	index  *query.Index
	table  *query.Table
	// missing says that the report is not stored any more.
	missing bool
}

// smallReport is how many sites a report has at most for a page to wait until it is read, some 50 ms. Of a larger one a
// page without a selection shows what the database knows, while it is read for the next page.
const smallReport = 2000

// prepare does what an address has to wait for, before the View of the page: it reads the report, and opens the table
// of the trace.
func (p *pages) prepare(ctx context.Context, c echo.Context, id int64) (a asked, done func(), err error) {
	done = func() {}
	var run store.Run
	summary, err := store.Read(ctx, p.store, func(v store.View) (summary *analysis.Report, err error) {
		if run, err = v.FindRun(ctx, id); err != nil || run.ReportKey == "" {
			return nil, err
		}
		return v.FindSummary(ctx, id)
	})
	if err != nil || summary == nil {
		return a, done, err
	}
	a.report = run.ReportKey
	l := listingOf(id, c, summary)
	if a.index, a.missing, err = p.index(ctx, &run, l); err != nil || p.windows == nil || summary.Trace == nil {
		return a, done, err
	}
	selection := l.selection()
	isKept := !l.window.scanned || p.windowed.take(windowKey{id, a.report, l.window.Window}) != nil
	if !l.looksAtAllocations() && !selection.OfAllocations() && isKept {
		return a, done, nil
	}
	a.table, done, err = p.windows.Table(ctx, id, a.report)
	var refused *analysis.Error
	if errors.As(err, &refused) { // the page says what is wrong
		return a, func() {}, nil
	}
	return a, done, err
}

// index reads the report of a run where the page needs it.
func (p *pages) index(ctx context.Context, run *store.Run, l listing) (x *query.Index, missing bool, err error) {
	switch {
	case p.queries == nil:
		return nil, true, nil
	case run.SiteCount > smallReport && (l.isWhole() || l.view == viewSites):
		return p.queries.Peek(ctx, run.ReportKey), false, nil
	}
	x, err = p.queries.Index(ctx, run.ReportKey)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, true, nil
	}
	return x, false, err
}
