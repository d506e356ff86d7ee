package pages

import (
	"crypto/rand"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/web/api"
)

// symbolPost handles POST /symbols, the form as browsers without scripts send it. Files stream through intake as they
// come; the answer leads back to the page that they were dropped on, or says what was refused.
func (p *pages) symbolPost(c echo.Context) error {
	form, err := formOf(c)
	if err != nil {
		return err
	}
	var run, project string
	files, group := 0, rand.Text() // files of one form belong together
	var refused []outcome
	err = readForm(form, map[string]*string{"run": &run, "project": &project}, func(part *multipart.Part) (bool, error) {
		files++
		taken, err := p.intake.AcceptSymbols(c.Request().Context(), group, part.FileName(), part)
		if err != nil {
			problem := api.ProblemOf(err)
			if problem.Status >= http.StatusInternalServerError {
				return false, fmt.Errorf("pages: upload %s: %w", part.FileName(), err)
			}
			refused = append(refused, outcome{name: part.FileName(), code: problem.Code, message: problem.Detail})
		}
		for _, r := range taken.Refused {
			refused = append(refused, outcome{name: r.Name, code: r.Code, message: r.Message})
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	back := symbolsBack(run, project)
	if files > 0 && len(refused) == 0 {
		return c.Redirect(http.StatusSeeOther, string(back))
	}
	_, _ = io.CopyN(io.Discard, c.Request().Body, maxDrained)
	view := symbolPostView{frame: frameOf(c, "Symbols"), back: back, taken: files, refused: refused}
	return render(c, http.StatusUnprocessableEntity, symbolPostPage(view))
}

type symbolPostView struct {
	frame
	back    templ.SafeURL
	taken   int // files that came
	refused []outcome
}

// symbolsBack is the page that a form was posted from.
func symbolsBack(run, project string) templ.SafeURL {
	if id, err := strconv.ParseInt(run, 10, 64); err == nil {
		return runURL(id) + "#symbols"
	}
	if project != "" {
		return projectSymbolsURL(project)
	}
	return "/"
}

// runSymbolise handles POST /runs/:id/symbolise: the button that looks for a run's symbols again.
func (p *pages) runSymbolise(c echo.Context) error {
	run, err := p.runByParam(c)
	if err != nil {
		return err
	}
	if err := p.store.QueueSymbolise(c.Request().Context(), run.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(runURL(run.ID)))
}
