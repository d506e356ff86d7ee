package ui

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// MaxFilterBytes is the largest length of a filter text.
const MaxFilterBytes = 200

// NameInPath returns a parameter of the path that is a name; its error is "not found" for a text that can be no name.
func NameInPath(c echo.Context, param string) (string, error) {
	name, err := url.PathUnescape(c.Param(param))
	if err != nil || name == "" || name != Printable(name) {
		return "", store.ErrNotFound
	}
	return name, nil
}

// RunInPath returns the id of the run in the path; its error is "not found" for anything but a number.
func RunInPath(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, store.ErrNotFound
	}
	return id, nil
}

// MaxFormBytes is the largest length of a form without files.
const MaxFormBytes = 64 << 10

// ParseForm reads a form without files, of at most so many bytes.
func ParseForm(c echo.Context, most int) error {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, int64(most))
	err := r.ParseForm()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge, "the form has at most %d bytes", most)
	case err != nil:
		return FormError(err)
	}
	return nil
}

// Printable removes control characters and invalid UTF-8, which no name has and the database refuses.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

const (
	// maxField is how long a typed value may be, in bytes.
	maxField = 1 << 10
	// maxDrained is how much of a refused form Drain reads, in bytes.
	maxDrained = 1 << 30
)

// MultipartForm is the form that a request carries, to be read part by part.
func MultipartForm(c echo.Context) (*multipart.Reader, error) {
	form, err := c.Request().MultipartReader()
	if err != nil {
		return nil, problem.New(http.StatusUnsupportedMediaType, problem.CodeWrongContentType,
			"the form must come as multipart/form-data")
	}
	return form, nil
}

// ReadForm reads the parts of a form in their order: it sets fields by their names, and calls take for each file until
// more is false. Its error is one of the connection or of the server.
func ReadForm(form *multipart.Reader, fields map[string]*string,
	take func(*multipart.Part) (more bool, err error)) error {
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return FormError(err)
		}
		name := part.FormName()
		if value := fields[name]; value != nil {
			text, err := io.ReadAll(io.LimitReader(part, maxField))
			if err != nil {
				return FormError(err)
			}
			*value = Printable(string(text))
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

// DiscardForm reads what is left of a refused form: a browser shows the answer only when it could send what it has.
func DiscardForm(c echo.Context) {
	_, _ = io.CopyN(io.Discard, c.Request().Body, maxDrained)
}

// FormError turns an error of reading a form into the answer to it.
func FormError(err error) error {
	var known *problem.Problem
	if errors.As(err, &known) {
		return known
	}
	return problem.New(http.StatusBadRequest, problem.CodeUploadBroken, "the form is incomplete; send it again")
}
