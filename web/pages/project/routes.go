// Package project serves the list of projects and the page of one: its leaks above its builds and their runs.
//
// In come / and /projects/:project with a scenario and a page to show. Out go whole pages; the list of leaks in them
// is made by package leaks.
package project

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// pages holds the handlers of this package.
type pages struct{ store *store.Store }

// Register adds the routes of projects.
func Register(e *echo.Echo, s *store.Store, use echo.MiddlewareFunc) {
	p := &pages{store: s}
	for path, handle := range map[string]echo.HandlerFunc{"/": p.projects, "/projects/:project": p.project} {
		e.GET(path, handle, use)
		e.HEAD(path, handle, use)
	}
}
