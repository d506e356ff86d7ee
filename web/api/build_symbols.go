package api

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// maxSymbolKeys is how many symbol files one request gives a build.
const maxSymbolKeys = 500

// A symbolKey is the place of a symbol file in a symbol store, name/key/name.
type symbolKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// boundView is the answer to symbol files of a build.
type boundView struct {
	Missing []symbolKey `json:"missing"`
	Runs    int         `json:"runs"`
}

// buildSymbols handles POST /api/v1/projects/{project}/builds/{build}/symbols.
func (a *API) buildSymbols(c echo.Context) error {
	project, build, err := buildOf(c)
	if err != nil {
		return err
	}
	var body struct {
		Files []symbolKey `json:"files"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if len(body.Files) > maxSymbolKeys {
		return &leaks.FieldError{Field: "files", Message: fmt.Sprintf("has more than %d files: send them in several requests", maxSymbolKeys)}
	}
	keys := make([]store.SymbolKey, len(body.Files))
	for i, f := range body.Files {
		if f.Name == "" || f.Key == "" || !leaks.IsSingleLine(f.Name) || !leaks.IsSingleLine(f.Key) {
			return &leaks.FieldError{Field: "files", Message: fmt.Sprintf("row %d needs a name and a key, each on one line", i+1)}
		}
		keys[i] = store.SymbolKey(f)
	}
	bound, err := a.store.UpdateBuildSymbols(c.Request().Context(), project, build, keys)
	if err != nil {
		return err
	}
	view := boundView{Missing: []symbolKey{}, Runs: bound.Runs}
	for _, k := range bound.Missing {
		view.Missing = append(view.Missing, symbolKey(k))
	}
	return fresh(c, http.StatusOK, view)
}
