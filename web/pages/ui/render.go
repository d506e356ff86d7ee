// Package ui holds what the packages of pages share: the frame around a page and the way it is sent, the addresses of
// all pages, panels, tables, forms, numbers and glyphs, and how a leak and its stack are shown in more than one package
// of pages.
//
// In come values of the store and of the analysis. Out go markup, words and addresses. It imports no package of
// pages; what one package alone uses lives there.
package ui

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/web/compress"
	"heapdrift/web/etag"
)

const versionKey = "heapdrift.version"

// WithVersion is middleware that lets pages show the version.
func WithVersion(version string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Set(versionKey, version)
			return next(c)
		}
	}
}

// FrameOf is the frame of a page with the given title.
func FrameOf(c echo.Context, title string) Frame {
	version, _ := c.Get(versionKey).(string)
	return Frame{title: title, version: version, actor: accounts.ActorFrom(c.Request().Context())}
}

// Render answers with a page. It is made whole before the first byte goes out: an error on the way gives a proper
// error page instead of half of this one. A browser that has the same page already is told so.
func Render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("ui: render %s: %w", c.Path(), err)
	}
	header := c.Response().Header()
	header.Set("Cache-Control", "private, no-cache")
	compress.Vary(header, "HX-Request", "Accept-Encoding", "Cookie")
	body := readable(b.Bytes())
	if status == http.StatusOK {
		tag := etag.OfBody(body)
		header.Set("ETag", tag)
		if etag.IsKnown(c.Request(), tag) {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.HTMLBlob(status, body)
}

// RenderOnce answers with a page that holds a secret, or the form for one: no cache keeps it, and it is not compressed,
// because the length of what is compressed tells of what is in it.
func RenderOnce(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("ui: render %s: %w", c.Path(), err)
	}
	c.Response().Header().Set("Cache-Control", "no-store, no-transform")
	return c.HTMLBlob(status, readable(b.Bytes()))
}

// IsFragment reports whether htmx asks for a part of the page to put into the one it shows.
func IsFragment(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("HX-Request") == "true" && h.Get("HX-History-Restore-Request") != "true"
}
