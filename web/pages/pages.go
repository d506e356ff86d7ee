// Package pages puts the HTML pages together. In come Options and a router; out go the routes of its packages, each of
// which registers its own pages, and of the files that none of them owns. A page is complete without scripts, and its
// address holds all choices that it shows. A package has one file per page or action, with its markup in the .templ
// file of the same name.
package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/downloads"
	"heapdrift/internal/intake"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/assets"
	"heapdrift/web/guard"
	"heapdrift/web/pages/account"
	"heapdrift/web/pages/download"
	"heapdrift/web/pages/kit"
	"heapdrift/web/pages/leaks"
	"heapdrift/web/pages/operators"
	"heapdrift/web/pages/project"
	"heapdrift/web/pages/run"
	"heapdrift/web/pages/search"
	"heapdrift/web/pages/settings"
	"heapdrift/web/pages/symbols"
	"heapdrift/web/pages/ui"
	"heapdrift/web/pages/upload"
	"heapdrift/web/watch"
)

// Options are what the pages work with. Store, Intake and Guard are required.
type Options struct {
	Store  *store.Store
	Intake *intake.Intake
	Guard  *guard.Guard
	// Issuer is an OpenID Connect provider that people may log in by; nil for none.
	Issuer *account.Issuer
	// Hub signals changes of runs to streams; nil makes them look every few seconds.
	Hub *watch.Hub
	// Windows computes the numbers of windows of traces; nil makes pages show whole traces only.
	Windows run.WindowAnswers
	// Queries caches the reports that selections are answered from.
	Queries *query.IndexCache
	Version string
	// Downloads are the programs that the server gives away; nil for none.
	Downloads *downloads.Library
	// Closing is closed when the server shuts down: streams end then.
	Closing <-chan struct{}
}

// Register adds the routes of the pages and of what they load.
func Register(e *echo.Echo, opt Options) {
	use := ui.WithVersion(opt.Version)
	project.Register(e, opt.Store, use)
	leaks.Register(e, opt.Store, use)
	search.Register(e, opt.Store, use)
	run.Register(e, run.Options{Store: opt.Store, Hub: opt.Hub, Windows: opt.Windows, Queries: opt.Queries,
		Closing: opt.Closing}, use)
	symbols.Register(e, opt.Store, opt.Intake, use)
	upload.Register(e, opt.Store, opt.Intake, opt.Downloads, use)
	kit.Register(e, opt.Store, use)
	download.Register(e, opt.Downloads, use)
	settings.Register(e, opt.Store, use)
	operators.Register(e, operators.Options{Store: opt.Store, Blobs: opt.Intake.Blobs, Version: opt.Version}, use)
	account.Register(e, account.Options{Store: opt.Store, Guard: opt.Guard, Issuer: opt.Issuer}, use)
	e.GET("/favicon.ico", favicon, use)
	e.HEAD("/favicon.ico", favicon, use)
	static := echo.WrapHandler(assets.Handler())
	e.GET(assets.Prefix+"*", static)
	e.HEAD(assets.Prefix+"*", static)
}

// favicon handles GET /favicon.ico, which browsers ask for where no page names an icon.
func favicon(c echo.Context) error {
	return c.Redirect(http.StatusFound, assets.URL("favicon.svg"))
}
