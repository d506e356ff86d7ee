package pages

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/api"
)

const (
	// maxField is how long a typed value may be, in bytes.
	maxField = 1 << 10
	// maxDrained is how much of a refused form is still read, in bytes: a browser shows the answer only when it
	// could send what it has.
	maxDrained = 1 << 30
)

// uploadPost handles POST /upload, the form as browsers without scripts send it. Each file streams through intake as
// it comes; the fields stand before the files in the form, so they are known by then.
func (p *pages) uploadPost(c echo.Context) error {
	form, err := formOf(c)
	if err != nil {
		return err
	}
	view := uploadViewOf(c, target{})
	err = readForm(form, view.target.fields(), func(part *multipart.Part) (bool, error) {
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
			view.wrong["file"] = "not every file was taken"
		}
	}
	if len(view.wrong) > 0 {
		_, _ = io.CopyN(io.Discard, c.Request().Body, maxDrained)
		return render(c, http.StatusUnprocessableEntity, uploadPage(view))
	}
	return c.Redirect(http.StatusSeeOther, string(runURL(view.taken())))
}

// formOf is the form that a request carries, to be read part by part.
func formOf(c echo.Context) (*multipart.Reader, error) {
	form, err := c.Request().MultipartReader()
	if err != nil {
		return nil, &api.Problem{Status: http.StatusUnsupportedMediaType, Code: "wrong-content-type", Detail: "the form must come as multipart/form-data"}
	}
	return form, nil
}

// readForm reads the parts in their order: fields go into their values, each file is taken as it comes until no more
// is wanted. An error is one of the connection or of the server.
func readForm(form *multipart.Reader, fields map[string]*string, take func(*multipart.Part) (more bool, err error)) error {
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
		name := part.FormName()
		if value := fields[name]; value != nil {
			text, err := io.ReadAll(io.LimitReader(part, maxField))
			if err != nil {
				return broken(err)
			}
			*value = printable(string(text))
			continue
		}
		if name != "file" || part.FileName() == "" {
			continue // an empty file field: nothing was chosen
		}
		if more, err := take(part); err != nil || !more {
			return err
		}
	}
}

// broken says why the reading of a form ended.
func broken(err error) error {
	var known *api.Problem
	if errors.As(err, &known) {
		return known
	}
	return &api.Problem{Status: http.StatusBadRequest, Code: "upload-broken", Detail: "the form did not come whole"}
}

// accept takes one file in.
func (p *pages) accept(c echo.Context, part *multipart.Part, view *uploadView) error {
	to, err := view.target.parse()
	var wrong *store.TargetError
	if errors.As(err, &wrong) {
		view.wrong[wrong.Field] = wrong.Message
		return nil
	}
	if err != nil {
		return err
	}
	file := outcome{name: part.FileName()}
	evidence, err := p.intake.Accept(c.Request().Context(), to, part.FileName(), part)
	if err != nil {
		problem := api.ProblemOf(err)
		if problem.Status >= http.StatusInternalServerError {
			return fmt.Errorf("pages: upload %s: %w", part.FileName(), err)
		}
		file.code, file.message = problem.Code, problem.Detail
	}
	file.run = evidence.RunID
	view.outcomes = append(view.outcomes, file)
	return nil
}
