package api

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// Windows answers for windows of the traces that runs are about. Errors are an *analysis.Error where there is no answer,
// with one of the codes below, or store.ErrNotFound for a run without a report.
type Windows interface {
	// Window gives the numbers of the run's report in a window.
	Window(ctx context.Context, run int64, w capture.Window) (*analysis.Windowed, error)
	// Report makes the whole report on a window.
	Report(ctx context.Context, run int64, w capture.Window) (*analysis.Report, error)
}

// noWindows are those of a server that has no table to ask.
type noWindows struct{}

func (noWindows) Window(context.Context, int64, capture.Window) (*analysis.Windowed, error) {
	return nil, errNoWindows
}

func (noWindows) Report(context.Context, int64, capture.Window) (*analysis.Report, error) {
	return nil, errNoWindows
}

var errNoWindows = problem(http.StatusNotImplemented, "no-windows", "this server does not answer for windows of traces")

// Codes of errors about windows.
const (
	codeNotATrace    = "not-a-trace"
	codeTableMissing = "table-missing"
	codeBadWindow    = "bad-window"
	codeReadAgain    = "read-again"
)

// windowStatus is the status of errors that windows give.
var windowStatus = map[string]int{
	codeNotATrace:    http.StatusNotFound,
	codeTableMissing: http.StatusGone,
	codeBadWindow:    http.StatusUnprocessableEntity,
	codeReadAgain:    http.StatusConflict,
}

// badWindow says that a parameter which names a window is wrong.
func badWindow(field, format string, args ...any) *Problem {
	p := problem(http.StatusUnprocessableEntity, codeBadWindow, format, args...)
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
		if *end.value, err = strconv.ParseInt(c.QueryParam(end.field), 10, 64); err != nil || *end.value < -farthest || *end.value > farthest {
			return w, badWindow(end.field, "%s: %q is not a number of nanoseconds since the trace's start; give from_ns and to_ns, or window=A,B in seconds",
				end.field, c.QueryParam(end.field))
		}
	}
	return w, nil
}
