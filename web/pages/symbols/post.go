package symbols

import (
	"crypto/rand"
	"fmt"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// post handles POST /symbols, the form as browsers without scripts send it. Files stream through intake as they
// come; the answer leads back to the page that they were dropped on, or says what was refused.
func (p *pages) post(c echo.Context) error {
	form, err := ui.MultipartForm(c)
	if err != nil {
		return err
	}
	var run, project string
	files, group := 0, rand.Text() // files of one form belong together
	var refused []refusedFile
	err = ui.ReadForm(form, map[string]*string{"run": &run, "project": &project},
		func(part *multipart.Part) (bool, error) {
			files++
			taken, err := p.intake.AcceptSymbols(c.Request().Context(), group, part.FileName(), part)
			if err != nil {
				told := problem.FromError(err)
				if told.Status >= http.StatusInternalServerError {
					return false, fmt.Errorf("symbols: take %s: %w", part.FileName(), err)
				}
				refused = append(refused, refusedFile{name: part.FileName(), code: told.Code, message: told.Detail})
			}
			for _, r := range taken.Refused {
				refused = append(refused, refusedFile{name: r.Name, code: r.Code, message: r.Message})
			}
			return true, nil
		})
	if err != nil {
		return err
	}
	back := backURL(run, project)
	if files > 0 && len(refused) == 0 {
		return c.Redirect(http.StatusSeeOther, string(back))
	}
	ui.DiscardForm(c)
	view := postView{Frame: ui.FrameOf(c, "Symbols"), back: back, taken: files, refused: refused}
	return ui.Render(c, http.StatusUnprocessableEntity, postPage(view))
}

type postView struct {
	ui.Frame
	back    templ.SafeURL
	taken   int // files that came
	refused []refusedFile
}

// A refusedFile is a file that was not taken, and why.
type refusedFile struct{ name, code, message string }

// backURL is the page that a form was posted from.
func backURL(run, project string) templ.SafeURL {
	if id, err := strconv.ParseInt(run, 10, 64); err == nil {
		return ui.RunURL(id) + "#symbols"
	}
	if project != "" {
		return ui.SymbolsURL(project)
	}
	return "/"
}
