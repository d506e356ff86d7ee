// Package pages serves the HTML pages. One file per page or action, its markup in the .templ file of the same name.
// Every page reads whole without scripts; the address holds all that a page shows.
package pages

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/web/assets"
)

// Options are what the pages work with. Store and Intake are required.
type Options struct {
	Store  *store.Store
	Intake *intake.Intake
	// Hub tells streams of changes as they happen; without one they look for themselves.
	Hub *Hub
	// Windows answers for windows of traces; without one, pages show whole traces only.
	Windows Windows
	Log     *slog.Logger
	Version string
	// Closing is closed when the server shuts down: streams end then.
	Closing <-chan struct{}
}

// Windows gives the numbers of a run in a window of its trace. Its error is an *analysis.Error where it cannot, as of a
// run that has no trace, or store.ErrNotFound.
type Windows interface {
	Window(ctx context.Context, run int64, w capture.Window) (*analysis.Windowed, error)
}

type pages struct {
	windowed windowCache
	windows  Windows // nil for none
	store    *store.Store
	intake   *intake.Intake
	hub      *Hub
	log      *slog.Logger
	closing  <-chan struct{}
}

// Register adds the routes of the pages and of what they load.
func Register(e *echo.Echo, opt Options) {
	p := &pages{windows: opt.Windows, store: opt.Store, intake: opt.Intake, hub: opt.Hub, log: opt.Log, closing: opt.Closing}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	use := withVersion(opt.Version)
	for path, handle := range map[string]echo.HandlerFunc{
		"/":                          p.projects,
		"/projects/:project":         p.project,
		"/projects/:project/symbols": p.projectSymbols,
		"/projects/:project/compare": p.compare,
		"/projects/:project/rules":   p.rules,
		"/projects/:project/signatures/:signature": p.signature,
		"/upload":                  p.upload,
		"/runs/:id":                ofOneReport(p.run),
		"/runs/:id/sites/:ordinal": ofOneReport(p.site),
		"/runs/:id/memory":         ofOneReport(p.memory),
		"/favicon.ico":             favicon,
	} {
		e.GET(path, handle, use)
		e.HEAD(path, handle, use)
	}
	e.POST("/upload", p.uploadPost, use)
	e.POST("/symbols", p.symbolPost, use)
	e.POST("/projects/:project/signatures/:signature", p.signaturePost, use)
	e.POST("/projects/:project/signatures/:signature/comments", p.signatureComment, use)
	e.POST("/projects/:project/signatures/:signature/merge", p.signatureMerge, use)
	e.POST("/projects/:project/baseline", p.baselinePost)
	e.POST("/projects/:project/rules", p.rulesPost, use)
	e.POST("/projects/:project/rules/import", p.rulesImport, use)
	e.POST("/runs/:id/symbolise", p.runSymbolise)
	e.POST("/runs/:id/process", p.runProcess)
	e.GET("/runs/:id/events", p.runEvents)
	static := echo.WrapHandler(assets.Handler())
	e.GET(assets.Prefix+"*", static)
	e.HEAD(assets.Prefix+"*", static)
}

// favicon handles GET /favicon.ico, which browsers ask for where no page names an icon.
func favicon(c echo.Context) error {
	return c.Redirect(http.StatusFound, assets.URL("favicon.svg"))
}

const versionKey = "heapdrift.version"

// withVersion lets the foot of each page say which version it is.
func withVersion(version string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Set(versionKey, version)
			return next(c)
		}
	}
}

// frameOf is the frame of a page with the given title.
func frameOf(c echo.Context, title string) frame {
	version, _ := c.Get(versionKey).(string)
	return frame{title: title, version: version}
}

// render answers with a page. It is made whole before the first byte goes out: an error on the way gives a proper
// error page instead of half of this one.
func render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("pages: render %s: %w", c.Path(), err)
	}
	header := c.Response().Header()
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", "HX-Request")
	return c.HTMLBlob(status, readable(b.Bytes()))
}

// isFragment reports whether htmx asks for a part of the page to put into the one it shows.
func isFragment(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("HX-Request") == "true" && h.Get("HX-History-Restore-Request") != "true"
}

// runByParam returns the run in the address; anything else than a number names none.
func (p *pages) runByParam(c echo.Context) (store.Run, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return store.Run{}, store.ErrNotFound
	}
	return p.store.RunByID(c.Request().Context(), id)
}
