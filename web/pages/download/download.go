// Package download serves the page from which people and jobs get the program, and the programs themselves.
//
// In come /download, and /download/{system}-{architecture}/heapdrift[.exe] with or without .sha256. Out go the page, a
// program byte for byte, in parts where parts are asked for, or its digest as sha256sum writes it. Nobody needs an
// account for them: a job fetches the program before it has a token, and the programs are those of a public release.
package download

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
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
	systems  []system
}

// A system is how its users get the program.
type system struct {
	name  string // as people write it
	lines []line
}

// A line is a command for one shell.
type line struct{ id, shell, command string }

// list handles GET /download.
func (p *pages) list(c echo.Context) error {
	programs, missing, err := p.library.List(c.Request().Context())
	if err != nil {
		return err
	}
	v := view{Frame: ui.FrameOf(c, "Download"), server: ui.ServerURL(c), programs: programs, missing: missing}
	v.Crumbs = []ui.Crumb{{Text: "Download"}}
	v.systems = systemsOf(v.server, programs)
	return ui.Render(c, http.StatusOK, downloadPage(v))
}

// systemNames are the systems in the order of the page.
var systemNames = []struct{ system, name string }{{"windows", "Windows"}, {"linux", "Linux"}, {"darwin", "macOS"}}

// systemsOf are the commands for what is there. For each system they name the architecture that most machines have.
func systemsOf(server string, programs []downloads.Program) []system {
	var list []system
	for _, s := range systemNames {
		preferred := map[string]string{"darwin": "arm64"}[s.system]
		if preferred == "" {
			preferred = "amd64"
		}
		at := slices.IndexFunc(programs, func(p downloads.Program) bool {
			return p.Platform == downloads.Platform{System: s.system, Architecture: preferred}
		})
		if at < 0 {
			at = slices.IndexFunc(programs, func(p downloads.Program) bool { return p.Platform.System == s.system })
		}
		if at >= 0 {
			list = append(list, system{s.name, linesOf(server, &programs[at])})
		}
	}
	return list
}

// linesOf are the commands that fetch a program and check its digest.
func linesOf(server string, p *downloads.Program) []line {
	from := server + URL(p.Platform)
	switch p.Platform.System {
	case "windows":
		return []line{
			{"download-powershell", "PowerShell", fmt.Sprintf("Invoke-WebRequest -UseBasicParsing %s -OutFile heapdrift.exe; "+
				"if ((Get-FileHash heapdrift.exe).Hash -ne '%s') { Remove-Item heapdrift.exe; throw 'wrong digest' }", from, p.SHA256)},
			{"download-cmd", "cmd", fmt.Sprintf("curl -fSO %s && certutil -hashfile heapdrift.exe SHA256 | findstr /i %s || "+
				"del heapdrift.exe", from, p.SHA256)},
		}
	case "darwin":
		return []line{{"download-macos", "sh", shell(from, p.SHA256, "shasum -a 256")}}
	}
	return []line{{"download-sh", "sh", shell(from, p.SHA256, "sha256sum")}}
}

func shell(from, digest, check string) string {
	return fmt.Sprintf("curl -fSO %s && echo '%s  heapdrift' | %s -c && chmod +x heapdrift", from, digest, check)
}

// URL is the path of the program of a platform.
func URL(p downloads.Platform) string { return "/download/" + p.String() + "/" + p.Program() }

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
		t.Row(ui.TextCell("", p.Platform.String()), ui.PartCell("", ui.Link(templ.SafeURL(URL(p.Platform)), p.Platform.Program())),
			ui.BytesCell(p.Size), ui.TextCell("mono", p.SHA256))
	}
	return t
}
