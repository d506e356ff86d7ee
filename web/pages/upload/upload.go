package upload

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/downloads"
	"heapdrift/web/pages/ui"
)

// upload handles GET /upload: the form, filled in from the address.
func (p *pages) upload(c echo.Context) error {
	view := uploadViewOf(c, ui.TargetOfQuery(c))
	view.fresh = true
	if p.downloads != nil {
		programs, _, err := p.downloads.List(c.Request().Context())
		if err != nil {
			return err
		}
		view.systems = downloads.Systems(view.server, programs)
	}
	return ui.Render(c, http.StatusOK, uploadPage(view))
}

// An uploadView is the upload page; outcomes are of files sent without scripts.
type uploadView struct {
	ui.Frame
	target   ui.Target
	fresh    bool // nobody has sent the form: the browser may fill in what it remembers
	server   string
	curl     string
	push     string             // the same with the program
	systems  []downloads.System // how to get the program from this server
	wrong    map[string]string  // what is wrong with a field, by its name
	outcomes []outcome
}

// An outcome is what became of one file.
type outcome struct {
	name string
	run  int64 // where it was taken; 0 where it was not
	// code and message say why it was not.
	code, message string
}

func uploadViewOf(c echo.Context, t ui.Target) uploadView {
	v := uploadView{Frame: ui.FrameOf(c, "Upload"), target: t, server: ui.ServerURL(c),
		curl: t.CurlCommand(c), push: t.PushCommand(c),
		wrong: map[string]string{}}
	v.Tab, v.Scripts = "upload", append(slices.Clip(ui.QueueScripts), "upload-target.js", "upload-before.js", "upload.js")
	v.Upload = t
	return v
}

// taken is the run of the first file that was taken; 0 for none.
func (v uploadView) taken() int64 {
	for _, o := range v.outcomes {
		if o.run != 0 {
			return o.run
		}
	}
	return 0
}

// namesByExtension is what files are called by the end of their names. Of several formats with one end, the first is
// meant: the bytes decide anyway.
func namesByExtension() map[string]string {
	names := map[string]string{}
	for _, f := range slices.Backward(formats) {
		for _, ext := range f.Extensions {
			names[ext] = f.Name
		}
	}
	return names
}
