// Package upload serves the page on which people upload evidence, and the form that they post from it.
//
// In come /upload with a target to fill in, and the form with its files. Out go the page and, once every file is taken,
// a redirect to the run. The first bytes of a file come in before it is sent, and what it is goes out.
package upload

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/downloads"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
)

// formats are what evidence may be.
var formats = intake.Formats()

// pages holds the handlers of this package.
type pages struct {
	store     *store.Store
	intake    *intake.Intake
	downloads *downloads.Library // nil for none
}

// Register adds the routes of the upload page.
func Register(e *echo.Echo, s *store.Store, in *intake.Intake, programs *downloads.Library, use echo.MiddlewareFunc) {
	p := &pages{store: s, intake: in, downloads: programs}
	e.GET("/upload", p.upload, use)
	e.HEAD("/upload", p.upload, use)
	e.POST("/upload", p.post, use)
	e.POST("/upload/glance", p.inspectStart, use)
}
