// Package search serves the page that finds leaks, modules, runs, builds, files and projects by their names; every page
// shows it in a dialog, too.
//
// In comes /search with what to look for. Out go the page, or its list alone for the dialog.
package search

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// foundOfKind is how many of each kind a search shows.
const foundOfKind = 8

// pages holds the handlers of this package.
type pages struct{ store *store.Store }

// Register adds the route of the search.
func Register(e *echo.Echo, s *store.Store, use echo.MiddlewareFunc) {
	p := &pages{store: s}
	e.GET("/search", p.search, use)
	e.HEAD("/search", p.search, use)
}

// search handles GET /search: what q= finds. htmx gets the list alone.
func (p *pages) search(c echo.Context) error {
	text := strings.TrimSpace(ui.Printable(c.QueryParam("q")))
	text = strings.ToValidUTF8(text[:min(len(text), ui.MaxFilterBytes)], "")
	view := searchView{Frame: ui.FrameOf(c, "Search"), text: text}
	view.Crumbs = []ui.Crumb{{Text: "Search"}}
	if text != "" {
		ctx := c.Request().Context()
		found, err := store.Read(ctx, p.store,
			func(v store.View) (*store.SearchHits, error) {
				return v.Search(ctx, accounts.ActorFrom(ctx), queryOf(text))
			})
		if err != nil {
			return err
		}
		view.groups = groupsOf(found)
	}
	if ui.IsFragment(c) {
		return ui.Render(c, http.StatusOK, foundList(view))
	}
	return ui.Render(c, http.StatusOK, searchPage(view))
}

type searchView struct {
	ui.Frame
	text   string
	groups []group
}

// narrowings are the words before a colon that narrow a search.
var narrowings = map[string]func(q *store.SearchQuery, value string){
	"owner": func(q *store.SearchQuery, value string) { q.Owner = value },
	"file":  func(q *store.SearchQuery, value string) { q.File = value },
	"build": func(q *store.SearchQuery, value string) { q.Build = value },
}

// queryOf reads what was typed: "owner:ada receipt" is all of ada's whose name has "receipt".
func queryOf(text string) store.SearchQuery {
	q := store.SearchQuery{Limit: foundOfKind}
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		name, value, _ := strings.Cut(word, ":")
		narrow := narrowings[name]
		if narrow == nil || value == "" || strings.HasPrefix(value, ":") { // a name as file::open is a name
			return false
		}
		narrow(&q, value)
		return true
	})
	q.Text = strings.Join(words, " ")
	return q
}
