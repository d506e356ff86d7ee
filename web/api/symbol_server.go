package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols/symsrv" //nolint:depguard // the grammar of symbol servers' addresses; no symbols are read
)

// symbolServer is the root of the symbol server: srv*http://heapdrift/symbols.
const symbolServer = "/symbols/"

// symbolGet handles GET and HEAD /symbols/name/KEY/name, in the layout of symbol servers. Debuggers ask for much that is
// not there, in several forms: a short text says so, and they read nothing but its status.
func (a *API) symbolGet(c echo.Context) error {
	r := c.Request()
	request, ok := symsrv.ParseRequest(strings.TrimPrefix(r.URL.Path, symbolServer))
	if !ok || request.Form != symsrv.Plain || request.TwoTier {
		return symbolMissing(c)
	}
	ctx := r.Context()
	file, err := store.Read(ctx, a.store, func(v store.View) (store.SymbolFile, error) {
		return v.SymbolFileByKey(ctx, request.Identity.Name, request.Identity.Key())
	})
	if errors.Is(err, store.ErrNotFound) {
		return symbolMissing(c)
	}
	if err != nil {
		return err
	}
	content, err := a.blobs.Open(r.Context(), blob.ContentKey(file.SHA256))
	if err != nil {
		return fmt.Errorf("api: symbols %s/%s: %w", file.Name, file.Key, err)
	}
	defer func() { _ = content.Close() }() // read only
	header := c.Response().Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("ETag", `"`+file.SHA256+`"`)
	header.Set("Cache-Control", "no-cache") // a fuller PDB may come under the same key
	http.ServeContent(c.Response(), r, "", file.UploadedAt, io.NewSectionReader(content, 0, content.Size()))
	return nil
}

func symbolMissing(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store") // it may be uploaded the next minute
	return c.String(http.StatusNotFound, "no such file\n")
}
