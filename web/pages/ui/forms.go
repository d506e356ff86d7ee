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

// MaxFilterBytes is how long a text to look for may be, in bytes.
const MaxFilterBytes = 200

// NameInPath is a name in the address; what no name can be names nothing.
func NameInPath(c echo.Context, param string) (string, error) {
	name, err := url.PathUnescape(c.Param(param))
	if err != nil || name == "" || name != Printable(name) {
		return "", store.ErrNotFound
	}
	return name, nil
}

// RunInPath is the number of the run in the address; anything else than a number names none.
func RunInPath(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, store.ErrNotFound
	}
	return id, nil
}

// MaxFormBytes is how long a form without files may be, in bytes.
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

// Printable drops from text of an address what no name holds and the database does not take.
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

// ReadForm reads the parts in their order: fields go into their values, each file is taken as it comes until no more
// is wanted. An error is one of the connection or of the server.
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

// FormError says why the reading of a form ended.
func FormError(err error) error {
	var known *problem.Problem
	if errors.As(err, &known) {
		return known
	}
	return problem.New(http.StatusBadRequest, problem.CodeUploadBroken, "the form is incomplete; send it again")
}
