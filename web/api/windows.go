package api

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// WindowAnswers computes the numbers of windows of traces. Errors are an *analysis.Error where there is no answer, or
// store.ErrNotFound for a run without a report.
type WindowAnswers interface {
	// Prepare waits for what Window needs, before the View of Window is opened; done releases it.
	Prepare(ctx context.Context, run int64) (done func(), err error)
	// Table opens the allocation table of a run's report until done is called; nil for a run without one. report is the
	// key of the report.
	Table(ctx context.Context, run int64, report string) (table *query.Table, done func(), err error)
	// Window computes the numbers of the run's report in a window, with both taken from v.
	Window(ctx context.Context, v store.View, run int64, w capture.Window) (*analysis.WindowNumbers, error)
	// Report makes the whole report on a window. head is the run's report without its sites, in the evidence that it
	// rests on.
	Report(ctx context.Context, head *analysis.Report, in store.AnalysisInput, w capture.Window) (*analysis.Report, error)
}

// noWindows are those of a server that has no table to ask.
type noWindows struct{}

func (noWindows) Prepare(context.Context, int64) (func(), error) { return func() {}, nil }

func (noWindows) Table(context.Context, int64, string) (*query.Table, func(), error) {
	return nil, func() {}, nil
}

func (noWindows) Window(context.Context, store.View, int64, capture.Window) (*analysis.WindowNumbers, error) {
	return nil, errNoWindows
}

func (noWindows) Report(
	context.Context, *analysis.Report, store.AnalysisInput, capture.Window,
) (*analysis.Report, error) {
	return nil, errNoWindows
}

var errNoWindows = problem.New(http.StatusNotImplemented, problem.CodeNoWindows,
	"this server does not answer for windows of traces")

// badWindow says that a parameter which names a window is wrong.
func badWindow(field, format string, args ...any) *problem.Problem {
	p := problem.New(http.StatusUnprocessableEntity, analysis.CodeBadWindow, format, args...)
	p.Field = field
	return p
}

// secondsWindow is the window that "window=A,B" names, in seconds; nil where the request has none.
func secondsWindow(c echo.Context) (*capture.Window, error) {
	text := c.QueryParam("window")
	if text == "" {
		return nil, nil
	}
	w, err := capture.ParseWindow(text)
	if err != nil {
		return nil, badWindow("window", "window: %v", err)
	}
	return &w, nil
}

// farthest is how far from the trace's start a window may reach, in ns: so that its length is a number of ns, too.
const farthest = math.MaxInt64 / 2

// exactWindow is the window that from_ns and to_ns name, or else window=A,B.
func exactWindow(c echo.Context) (capture.Window, error) {
	switch w, err := secondsWindow(c); {
	case err != nil:
		return capture.Window{}, err
	case w != nil:
		return *w, nil
	}
	var w capture.Window
	for _, end := range []struct {
		field string
		value *int64
	}{{"from_ns", &w.From}, {"to_ns", &w.To}} {
		var err error
		if *end.value, err = strconv.ParseInt(c.QueryParam(end.field), 10, 64); err != nil ||
			*end.value < -farthest || *end.value > farthest {
			return w, badWindow(end.field,
				"%s: %q is not a number of nanoseconds since the trace's start; give from_ns and to_ns, or window=A,B in seconds",
				end.field, c.QueryParam(end.field))
		}
	}
	return w, nil
}
