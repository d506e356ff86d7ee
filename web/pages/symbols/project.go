package symbols

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	// wantedShown is how many modules without symbols the page of a project lists, those with most at stake.
	wantedShown = 50
	// filesPage is how many files of the team's store a page has.
	filesPage = 50
)

// project handles GET /projects/:project/symbols: what the project's runs lack, and what the team has; q= looks
// for a name or an id, after= names the file that the page of files stands behind.
func (p *pages) project(c echo.Context) error {
	name, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	view := projectView{Frame: ui.FrameOf(c, "Symbols of "+name), name: name, server: ui.ServerURL(c)}
	view.Crumbs = []ui.Crumb{{Text: name, URL: ui.ProjectURL(name)}, {Text: "Symbols"}}
	view.Scripts = Scripts
	view.filter = strings.TrimSpace(ui.Printable(c.QueryParam("q")))
	view.filter = strings.ToValidUTF8(view.filter[:min(len(view.filter), ui.MaxFilterBytes)], "")
	query := store.SymbolQuery{Filter: view.filter, Limit: filesPage}
	if id, err := strconv.ParseInt(c.QueryParam("after"), 10, 64); err == nil && id > 0 {
		query.AfterID = id
	}
	ctx := c.Request().Context()
	err = p.store.View(ctx, func(v store.View) (err error) {
		if view.wanted, err = v.ListWantedModules(ctx, name, wantedShown+1); err != nil {
			return err
		}
		view.SymbolPage, err = v.ListSymbolFiles(ctx, query)
		return err
	})
	if err != nil {
		return err
	}
	return ui.Render(c, http.StatusOK, projectPage(view))
}

type projectView struct {
	ui.Frame
	*store.SymbolPage
	name   string
	server string
	wanted []store.WantedModule // one more than are shown where there are more
	filter string
}

// url is the address of a page of the files: that behind a file, or the first one.
func (v projectView) url(after int64) templ.SafeURL {
	q := url.Values{}
	if v.filter != "" {
		q.Set("q", v.filter)
	}
	if after > 0 {
		q.Set("after", strconv.FormatInt(after, 10))
	}
	return ui.WithQuery(ui.SymbolsURL(v.name), q)
}

// extent says which of how many files the page shows.
func (v projectView) extent() string {
	return ui.RowsShown(v.RowsBefore, len(v.Files), v.Total, "file")
}

// shown are the modules that the page lists.
func (v projectView) shown() []store.WantedModule {
	return v.wanted[:min(len(v.wanted), wantedShown)]
}

// lacking is the sum of the list's heading.
func (v projectView) lacking() string {
	if len(v.wanted) > wantedShown {
		return fmt.Sprintf("the %d with most unresolved memory", wantedShown)
	}
	return quantity.Plural(len(v.wanted), "module")
}

// symbolPath is what debuggers and WPA find the team's files by.
func (v projectView) symbolPath() string {
	return `srv*C:\Symbols*` + v.server + "/symbols"
}

// adding is the command that uploads a build's symbols.
func (v projectView) adding() string {
	return "heapdrift symbols add build/ --url " + v.server
}

// wantedKind is the state that a wanted module is shown in.
func wantedKind(m store.WantedModule) capture.SymbolKind {
	return cmp.Or(capture.SymbolKind(m.Symbols), capture.SymbolsNone)
}

// wantOfModule says what a module of the project lacks.
func wantOfModule(m store.WantedModule) symbolWant {
	return wantOf(m.Name, m.PDB, m.DebugID, m.Size, m.Bits)
}

// fileKinds are the kinds of symbol files in words.
var fileKinds = map[string]string{"pdb": "PDB", "image": "image"}

// origins say where files came from, in short and in full.
var origins = map[string]struct{ short, long string }{
	store.OriginUpload: {"uploaded", "uploaded by the team"},
	store.OriginServer: {"server", "found on a symbol server"},
}

// runsOf is how many runs lack a module.
func runsOf(m store.WantedModule) string { return quantity.Plural(m.Runs, "run") }

// storedURL is where the symbol server has a file.
func storedURL(f store.SymbolFile) templ.SafeURL {
	name := url.PathEscape(f.Name)
	return templ.SafeURL("/symbols/" + name + "/" + url.PathEscape(f.Key) + "/" + name)
}
