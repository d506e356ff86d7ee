package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// upload handles GET /upload: the form, filled in from the address.
func (p *pages) upload(c echo.Context) error {
	return render(c, http.StatusOK, uploadPage(uploadViewOf(c, targetOfQuery(c))))
}

// An uploadView is the upload page; outcomes are of files sent without scripts.
type uploadView struct {
	frame
	target   target
	server   string
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

func uploadViewOf(c echo.Context, t target) uploadView {
	v := uploadView{frame: frameOf(c, "Upload"), target: t, server: server(c), wrong: map[string]string{}}
	v.tab, v.scripts = "upload", []string{"vendor/tus.min.js", "queue.js", "upload.js"}
	v.upload = t
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
