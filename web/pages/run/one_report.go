package run

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// errReplaced says that a run got another report while a page was made of the one before: the ranks of its sites are others
// then, and numbers would stand beside the names of other sites.
var errReplaced = errors.New("run: the run's report is replaced all the time")

// unreplaced returns errReplaced where the run has another report by now.
func (p *pages) unreplaced(ctx context.Context, run store.Run) error {
	if run.AnalysedAt == nil {
		return nil // nothing of a report was shown
	}
	now, _, err := p.store.TraceReport(ctx, run.ID)
	if err == nil && now != run.ReportKey {
		return errReplaced
	}
	return err
}

// ofOneReport makes a page anew as long as its report is replaced meanwhile, within reason.
func ofOneReport(show echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var err error
		for range 5 {
			if err = show(c); !errors.Is(err, errReplaced) {
				break
			}
		}
		return err
	}
}
