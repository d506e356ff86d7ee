// Package symbols serves what is known of symbols: the page of a project's symbols, the panel on the page of a run, and
// the form that takes symbol files.
//
// In come /projects/:project/symbols, the posted form and the button that looks for a run's symbols again; the page of
// a run brings its report. Out go whole pages, redirects, and for the page of a run a Card made of a Panel.
package symbols

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/intake"
	"heapdrift/internal/store"
)

// pages holds the handlers of this package.
type pages struct {
	store  *store.Store
	intake *intake.Intake
}

// Register adds the routes of symbols. A button that only redirects does without use.
func Register(e *echo.Echo, s *store.Store, in *intake.Intake, use echo.MiddlewareFunc) {
	p := &pages{store: s, intake: in}
	e.GET("/projects/:project/symbols", p.project, use)
	e.HEAD("/projects/:project/symbols", p.project, use)
	e.POST("/symbols", p.post, use)
	e.POST("/runs/:id/symbolise", p.symbolise)
}
