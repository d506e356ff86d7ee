package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols/pdb"    //nolint:depguard // a container is unpacked for debuggers; no symbols are read
	"heapdrift/internal/symbols/symsrv" //nolint:depguard // the grammar of symbol servers' addresses; no symbols are read
	"heapdrift/web/compress"
)

// symbolServer is the root of the symbol server: srv*http://heapdrift/symbols.
const symbolServer = "/symbols/"

// msfzType is how clients that read MSFZ containers of version 0 ask for them, and how these are sent.
const msfzType = "application/msfz0"

// symbolGet handles GET and HEAD /symbols/name/KEY/name, in the layout of symbol servers. Debuggers ask for much that
// is not there, in several forms: a short text says so, and they read nothing but its status.
//
// A PDB that was uploaded or fetched as an MSFZ container goes out as such to clients that ask for that, in Accept or
// by name/KEY/msfz0/name, and unpacked to all others. What is stored plain goes out plain.
func (a *API) symbolGet(c echo.Context) error {
	r := c.Request()
	request, ok := symsrv.ParseRequest(strings.TrimPrefix(r.URL.Path, symbolServer))
	if !ok || request.Form != symsrv.FormPlain && request.Form != symsrv.FormMSFZ || request.TwoTier {
		return symbolMissing(c)
	}
	ctx := r.Context()
	file, err := store.Read(ctx, a.store, func(v store.View) (store.SymbolFile, error) {
		return v.FindSymbolFile(ctx, request.Identity.Name, request.Identity.Key())
	})
	if errors.Is(err, store.ErrNotFound) {
		return symbolMissing(c)
	}
	if err != nil {
		return err
	}
	content, err := a.blobs.Open(ctx, blob.ContentKey(file.SHA256))
	if err != nil {
		return fmt.Errorf("api: symbols %s/%s: %w", file.Name, file.Key, err)
	}
	defer func() { _ = content.Close() }() // read only
	packed := file.Kind == "pdb" && pdb.IsMSFZ(content)
	if request.Form == symsrv.FormMSFZ && !packed {
		return symbolMissing(c)
	}
	header := c.Response().Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("ETag", `"`+file.SHA256+`"`)
	header.Set("Cache-Control", "no-cache") // a fuller PDB may come under the same key
	if file.Kind == "pdb" {
		compress.Vary(header, "Accept")
	}
	switch {
	case packed && (request.Form == symsrv.FormMSFZ || asksForMSFZ(r)):
		header.Set("Content-Type", msfzType)
	case packed:
		return a.sendUnpacked(ctx, c, file, content)
	}
	http.ServeContent(c.Response(), r, "", file.UploadedAt, io.NewSectionReader(content, 0, content.Size()))
	return nil
}

// asksForMSFZ reports whether a request names the type. */* does not: every debugger sends that.
func asksForMSFZ(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err == nil && media == msfzType && (params["q"] == "" || strings.Trim(params["q"], "0.") != "") {
			return true
		}
	}
	return false
}

// sendUnpacked sends a container as the plain PDB that it stands for. That takes memory: few do so at once.
func (a *API) sendUnpacked(ctx context.Context, c echo.Context, file store.SymbolFile, content blob.Reader) error {
	if err := enter(ctx, a.unpacking); err != nil {
		return err
	}
	defer leave(a.unpacking)
	plain, err := pdb.OpenPlain(content, content.Size())
	if err != nil {
		return fmt.Errorf("api: symbols %s/%s: %w", file.Name, file.Key, err)
	}
	c.Response().Header().Set("ETag", `"`+file.SHA256+`-msf"`)
	http.ServeContent(c.Response(), c.Request(), "", file.UploadedAt, io.NewSectionReader(plain, 0, plain.Size()))
	return nil
}

func symbolMissing(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store") // it may be uploaded the next minute
	return c.String(http.StatusNotFound, "no such file\n")
}
