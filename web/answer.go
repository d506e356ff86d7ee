package web

import (
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// An Answer says of a request how it was answered, for metrics.
type Answer struct {
	Class  string // of the route: page, api, upload, wait, symbols, file, health
	Status int
	Code   string // of the problem, where the request was refused
	Took   time.Duration
}

// routeClasses are the classes of routes by how they begin; the first that matches counts. Requests of one class take
// about as long as each other.
var routeClasses = []struct{ begins, class string }{
	{healthPath, "health"}, {readyPath, "health"},
	{"/static/", "file"}, {"/favicon.ico", "file"}, {"/download/", "file"},
	{"/symbols/", "symbols"},
	{"/upload", "upload"}, {"/api/v1/evidence", "upload"}, {"/api/v1/symbols", "upload"},
	{"/runs/:id/events", "wait"}, {"/api/v1/runs/:id/verdict", "wait"}, // until something changes
	{"/api/", "api"},
}

// classOfRoute is the class of a route; a page where no other is known.
func classOfRoute(route string) string {
	for _, c := range routeClasses {
		if strings.HasPrefix(route, c.begins) {
			return c.class
		}
	}
	return "page"
}

// refusalKey marks a request that was refused with the code of its problem.
const refusalKey = "refusal"

// answerOf is the answer to a request.
func answerOf(c echo.Context, took time.Duration) Answer {
	code, _ := c.Get(refusalKey).(string)
	return Answer{Class: classOfRoute(c.Path()), Status: c.Response().Status, Code: code, Took: took}
}
