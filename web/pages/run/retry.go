package run

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// retry handles POST /runs/:id/retry: the button that queues again what failed and may end better.
func (p *pages) retry(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	if _, err := p.store.RetryRun(c.Request().Context(), id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(id)))
}

// cancel handles POST /runs/:id/cancel: the button that ends the jobs of a run.
func (p *pages) cancel(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	if _, err := p.store.CancelRun(c.Request().Context(), id, ui.ActorOfForm(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(id)))
}

// mayTryAgain reports whether something of the run failed that another try may not meet.
func (v runView) mayTryAgain() bool {
	if store.IsRetryable(v.run.ErrorCode) {
		return true
	}
	for _, e := range v.failed() {
		if store.IsRetryable(e.ErrorCode) {
			return true
		}
	}
	return false
}
