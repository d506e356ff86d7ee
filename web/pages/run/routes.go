// Package run serves the pages of one run: its report, the sites and their stacks, the windows of a trace, what the
// evidence says of memory, and the stages on the way to the report.
//
// In come the addresses below /runs/:id. A listing holds what an address chooses: order, filter, window, page and the
// open row. Out go whole pages, the parts of them that htmx asks for, and a stream of server-sent events.
package run

import (
	"context"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/intake"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/watch"
)

// Options are what the pages of runs work with. Store is required.
type Options struct {
	Store *store.Store
	// Hub signals changes of runs to streams; nil makes them look every few seconds.
	Hub *watch.Hub
	// Windows computes the numbers of windows of traces; nil makes pages show whole traces only.
	Windows WindowAnswers
	// Queries caches the reports that selections are answered from.
	Queries *query.IndexCache
	// Closing is closed when the server shuts down: streams end then.
	Closing <-chan struct{}
}

// WindowAnswers computes the numbers of windows of traces. Its error is an *analysis.Error where it cannot, such as for
// a run without a trace, or store.ErrNotFound.
type WindowAnswers interface {
	// Prepare waits for what Window needs, before the View of Window is opened; done releases it.
	Prepare(ctx context.Context, run int64) (done func(), err error)
	// Window computes the numbers of the run's report in a window, with both taken from v.
	Window(ctx context.Context, v store.View, run int64, w capture.Window) (*analysis.WindowNumbers, error)
	// Table opens the allocation table of a run's report, as Prepare does, until done is called; nil for a run without
	// one. report is the key of the report.
	Table(ctx context.Context, run int64, report string) (table *query.Table, done func(), err error)
}

// formats are what evidence may be.
var formats = intake.Formats()

// pages holds the handlers of this package and the windows that were asked for last.
type pages struct {
	store    *store.Store
	hub      *watch.Hub
	windows  WindowAnswers // nil for none
	queries  *query.IndexCache
	windowed windowCache
	closing  <-chan struct{}
}

// Register adds the routes of runs. Streams and buttons that only redirect do without use.
func Register(e *echo.Echo, opt Options, use echo.MiddlewareFunc) {
	p := &pages{store: opt.Store, hub: opt.Hub, windows: opt.Windows, queries: opt.Queries, closing: opt.Closing}
	for path, handle := range map[string]echo.HandlerFunc{
		"/runs/:id":                p.inView(run),
		"/runs/:id/sites/:ordinal": p.inView(site),
		"/runs/:id/memory":         p.inView(memory),
		"/runs/:id/accept":         p.inView(acceptReview),
		"/runs/:id/tests":          p.inView(tests),
	} {
		e.GET(path, handle, use)
		e.HEAD(path, handle, use)
	}
	e.POST("/runs/:id/process", p.chooseProcess)
	e.POST("/runs/:id/delete", p.delete)
	e.POST("/runs/:id/hold", p.holdSet)
	e.POST("/runs/:id/retry", p.retry)
	e.POST("/runs/:id/cancel", p.cancel)
	e.POST("/runs/:id/accept", p.accept)
	e.GET("/runs/:id/events", p.events)
}
