package upload

import (
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/guard"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// post handles POST /upload, the form as browsers without scripts send it. Each file streams through intake as
// it comes; the fields stand before the files in the form, so they are known by then.
func (p *pages) post(c echo.Context) error {
	form, err := ui.MultipartForm(c)
	if err != nil {
		return err
	}
	view := uploadViewOf(c, ui.Target{})
	err = ui.ReadForm(form, view.target.Fields(), func(part *multipart.Part) (bool, error) {
		err := p.accept(c, part, &view)
		return len(view.wrong) == 0, err
	})
	if err != nil {
		return err
	}
	if len(view.outcomes) == 0 && len(view.wrong) == 0 {
		view.wrong["file"] = "choose at least one file"
	}
	for _, o := range view.outcomes {
		if o.run == 0 {
			view.wrong["file"] = "some files were rejected"
		}
	}
	if len(view.wrong) > 0 {
		ui.DiscardForm(c)
		return ui.Render(c, http.StatusUnprocessableEntity, uploadPage(view))
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(view.taken())))
}

// accept takes one file in.
func (p *pages) accept(c echo.Context, part *multipart.Part, view *uploadView) error {
	to, err := view.target.Parse()
	var wrong *leaks.FieldError
	if errors.As(err, &wrong) {
		view.wrong[wrong.Field] = wrong.Message
		return nil
	}
	if err != nil {
		return err
	}
	if err := guard.AllowUpload(c.Request().Context(), p.store, to.Project); err != nil {
		return err
	}
	file := outcome{name: part.FileName()}
	evidence, err := p.intake.Accept(c.Request().Context(), to, part.FileName(), part)
	if err != nil {
		told := problem.FromError(err)
		if told.Status >= http.StatusInternalServerError {
			return fmt.Errorf("upload: take %s: %w", part.FileName(), err)
		}
		file.code, file.message = told.Code, told.Detail
	}
	file.run = evidence.RunID
	view.outcomes = append(view.outcomes, file)
	return nil
}
