package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

const (
	// maxJSON is how long a JSON body of a change may be, in bytes.
	maxJSON = 64 << 10
	// maxText is how long a text of a query may be, in characters.
	maxText = 200
)

// pathText is a part of the address that names something. What no name can be names nothing.
func pathText(c echo.Context, name string) (string, error) {
	text, err := url.PathUnescape(c.Param(name))
	if err != nil || text == "" || !leaks.IsSingleLine(text) {
		return "", store.ErrNotFound
	}
	return text, nil
}

// readJSON reads the body of a change. A field that nobody knows is refused: it may be a misspelled one that matters.
func readJSON(c echo.Context, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxJSON))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && decoder.More() {
		err = errors.New("text follows the JSON object")
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge, "the body takes at most %d bytes", maxJSON)
	case err != nil:
		return problem.Invalid("body", "body: it is not the JSON that openapi.yaml describes: %s",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// readText reads a body that is a text of several lines, and checks that it is one.
func readText(c echo.Context, limit int64) (string, error) {
	text, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return "", problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge,
			"the body takes at most %d bytes", limit)
	case err != nil:
		return "", problem.New(http.StatusBadRequest, problem.CodeUploadBroken, "the body did not come whole")
	}
	return leaks.NormalizeLines(string(text))
}

// ifMatch is the version that If-Match names, −1 for any: a change is then made whatever others did meanwhile.
func ifMatch(c echo.Context) (int64, error) {
	text := strings.TrimSpace(c.Request().Header.Get("If-Match"))
	if text == "" || text == "*" {
		return -1, nil
	}
	n, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(text, "W/"), `"`), 10, 64)
	if err != nil || n < 0 {
		return 0, problem.Invalid("if-match", "If-Match: %q is not a version; take the ETag of GET", text)
	}
	return n, nil
}

// versionTag is the ETag of a version.
func versionTag(version int64) string { return fmt.Sprintf(`"%d"`, version) }

// conflicting is the problem of a change that was made on another version than If-Match names; other errors pass.
func conflicting(c echo.Context, err error) error {
	if !errors.Is(err, store.ErrConflict) || c.Request().Header.Get("If-Match") == "" {
		return err
	}
	p := problem.FromError(err)
	p.Status = http.StatusPreconditionFailed
	return p
}

// whole reads a number of the query that has a default and bounds.
func whole(c echo.Context, name string, otherwise, least, most int) (int, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, problem.Invalid(name, "%s: %q is not a whole number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// oneOf reads a word of the query, which must be among those given; the first one is the default.
func oneOf(c echo.Context, name string, words ...string) (string, error) {
	text := c.QueryParam(name)
	if text == "" {
		return words[0], nil
	}
	for _, w := range words {
		if w == text {
			return w, nil
		}
	}
	return "", problem.Invalid(name, "%s: %q is none of %s", name, text, strings.Join(words, ", "))
}

// textParam is a text of the query that is looked for, or names something.
func textParam(c echo.Context, name string) (string, error) {
	text := strings.TrimSpace(c.QueryParam(name))
	if utf8.RuneCountInString(text) > maxText || !leaks.IsSingleLine(text) {
		return "", problem.Invalid(name, "%s: at most %d characters of text", name, maxText)
	}
	return text, nil
}
