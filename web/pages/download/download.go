// Package download serves the page from which people and jobs get the program, and the programs themselves.
//
// In come /download, and /download/{system}-{architecture}/heapdrift[.exe] with or without .sha256. Out go the page, a
// program byte for byte, in parts where parts are asked for, or its digest as sha256sum writes it. Nobody needs an
// account for them: a job fetches the program before it has a token, and the programs are those of a public release.
package download

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/downloads"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// pages holds the handlers of this package.
type pages struct{ library *downloads.Library }

// Register adds the routes of the programs. A nil library has none.
func Register(e *echo.Echo, library *downloads.Library, use echo.MiddlewareFunc) {
	if library == nil {
		library = &downloads.Library{}
	}
	p := &pages{library}
	e.GET("/download", p.list, use)
	e.HEAD("/download", p.list, use)
	e.GET("/download/:platform/:file", p.file, use)
	e.HEAD("/download/:platform/:file", p.file, use)
}

// A view is the page.
type view struct {
	ui.Frame
	server   string
	programs []downloads.Program
	missing  string // why the folder of the server has none; "" where it has some
	systems  []downloads.System
}

// list handles GET /download.
func (p *pages) list(c echo.Context) error {
	programs, missing, err := p.library.List(c.Request().Context())
	if err != nil {
		return err
	}
	v := view{Frame: ui.FrameOf(c, "Download"), server: ui.ServerURL(c), programs: programs, missing: missing}
	v.Crumbs = []ui.Crumb{{Text: "Download"}}
	v.systems = downloads.Systems(v.server, programs)
	return ui.Render(c, http.StatusOK, downloadPage(v))
}

// file handles GET /download/:platform/:file.
func (p *pages) file(c echo.Context) error {
	system, architecture, _ := strings.Cut(c.Param("platform"), "-")
	platform := downloads.Platform{System: system, Architecture: architecture}
	name, digest := strings.CutSuffix(c.Param("file"), ".sha256")
	if name != platform.Program() {
		return store.ErrNotFound
	}
	program, f, err := p.library.Open(c.Request().Context(), platform)
	if errors.Is(err, fs.ErrNotExist) {
		return store.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	header := c.Response().Header()
	header.Set("Cache-Control", "public, no-cache") // until the server is another version
	if digest {
		return c.String(http.StatusOK, program.SHA256+"  "+name+"\n")
	}
	header.Set(echo.HeaderContentType, echo.MIMEOctetStream)
	header.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	header.Set("ETag", `"`+program.SHA256+`"`)
	header.Set("Cache-Control", "public, no-cache, no-transform")
	http.ServeContent(c.Response(), c.Request(), "", program.Modified, f)
	return nil
}

func programsTable(v view) *ui.Table {
	t := ui.NewTable("Programs", "hover", ui.Col("Platform"), ui.Col("File"), ui.NumCol("Size"),
		ui.Col("SHA-256")).Region()
	for _, p := range v.programs {
		t.Row(ui.TextCell("", p.Platform.String()), ui.PartCell("", ui.Link(templ.SafeURL(p.Platform.Path()), p.Platform.Program())),
			ui.BytesCell(p.Size), ui.TextCell("mono", p.SHA256))
	}
	return t
}
