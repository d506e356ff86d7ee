// Package settings serves the page on which the admins of a project say who may see it, make tokens for its CI jobs,
// say where its source can be read, rename it, and delete builds or all of it, and the form that makes a project.
//
// In come forms; each change is in the audit of the project.
package settings

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// pages holds the handlers of this package.
type pages struct{ store *store.Store }

// Register adds the routes of settings.
func Register(e *echo.Echo, s *store.Store, use echo.MiddlewareFunc) {
	p := &pages{store: s}
	e.GET("/projects/:project/settings", p.settings, use)
	e.HEAD("/projects/:project/settings", p.settings, use)
	e.POST("/projects", p.projectAdd, use)
	e.POST("/projects/:project/settings/members", p.memberSet, use)
	e.POST("/projects/:project/settings/tokens", p.tokenAdd, use)
	e.POST("/projects/:project/settings/tokens/:number", p.tokenRevoke)
	e.POST("/projects/:project/settings/rename", p.rename, use)
	e.POST("/projects/:project/settings/sources", p.sourcesSet, use)
	e.POST("/projects/:project/settings/retention", p.retentionSet, use)
	e.POST("/projects/:project/settings/hold", p.holdSet, use)
	e.POST("/projects/:project/settings/builds", p.deleteBuild, use)
	e.POST("/projects/:project/settings/delete", p.delete, use)
}
