package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
)

// symbolsReceipt is the answer to an upload of symbols.
type symbolsReceipt struct {
	Modules []moduleReceipt `json:"modules"`
	Refused []refusedFile   `json:"refused"`
}

type moduleReceipt struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Key     string `json:"key"`
	DebugID string `json:"debug_id"`
	Symbols string `json:"symbols"`
	Bits    int    `json:"bits"`
	Bytes   int64  `json:"bytes"`
	Note    string `json:"note"`
	New     bool   `json:"new"`
	Runs    int    `json:"runs"`
}

type refusedFile struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func acceptedSymbolsOf(s intake.SymbolsUpload) symbolsReceipt {
	answer := symbolsReceipt{Modules: []moduleReceipt{}, Refused: []refusedFile{}}
	for _, f := range s.Files {
		answer.Modules = append(answer.Modules, moduleReceipt{
			Name: f.Name, Kind: f.Kind, Key: f.Key, DebugID: f.DebugID, Symbols: f.Symbols, Bits: f.Bits, Bytes: f.Bytes,
			Note: f.Note, New: f.New, Runs: f.Runs,
		})
	}
	for _, r := range s.Refused {
		answer.Refused = append(answer.Refused, refusedFile(r))
	}
	return answer
}

// symbolsPut handles PUT /api/v1/symbols: the body is a PDB, an image, or an archive of them. Each may be sent again.
func (a *API) symbolsPut(c echo.Context) error {
	query := c.Request().URL.Query()
	group, name := query.Get("group"), query.Get("name")
	if name == "" {
		return &leaks.FieldError{Field: "name", Message: "is missing: give the file's name"}
	}
	if err := intake.CheckGroup(group); err != nil {
		return err
	}
	if err := a.wholePut(c.Request()); err != nil {
		return err
	}
	body := bodyOf(c)
	taken, err := a.intake.AcceptSymbols(c.Request().Context(), group, name,
		intake.Body{Reader: body, Bytes: c.Request().ContentLength})
	if err != nil {
		return body.blame(err)
	}
	return fresh(c, http.StatusCreated, acceptedSymbolsOf(taken))
}
