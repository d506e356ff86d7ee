package upload

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/web/pages/ui"
)

// upload handles GET /upload: the form, filled in from the address.
func (p *pages) upload(c echo.Context) error {
	return ui.Render(c, http.StatusOK, uploadPage(uploadViewOf(c, ui.TargetOfQuery(c))))
}

// An uploadView is the upload page; outcomes are of files sent without scripts.
type uploadView struct {
	ui.Frame
	target   ui.Target
	server   string
	curl     string
	wrong    map[string]string // what is wrong with a field, by its name
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
	v := uploadView{Frame: ui.FrameOf(c, "Upload"), target: t, server: ui.ServerURL(c), curl: t.Curl(c), wrong: map[string]string{}}
	v.Tab, v.Scripts = "upload", []string{"vendor/tus.min.js", "queue.js", "upload.js"}
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
