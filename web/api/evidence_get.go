package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// evidenceGet handles GET /api/v1/runs/:id/evidence/:file: the file as it was uploaded. It may hold anything, so
// browsers save it and do not show it.
func (a *API) evidenceGet(c echo.Context) error {
	run, file, err := fileOfRun(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, err := store.Read(ctx, a.store,
		func(v store.View) ([]store.Evidence, error) { return v.ListEvidence(ctx, run) })
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(e store.Evidence) bool { return e.ID == file })
	if at < 0 {
		return store.ErrNotFound
	}
	e := &list[at]
	expired := problem.New(http.StatusGone, problem.CodeEvidenceExpired,
		"the file was deleted after the server's retention time; its report stays")
	if e.ExpiredAt != nil {
		return expired
	}
	content, err := a.blobs.Open(ctx, blob.ContentKey(e.SHA256))
	if errors.Is(err, blob.ErrNotFound) {
		return expired
	}
	if err != nil {
		return fmt.Errorf("api: evidence %d of run %d: %w", file, run, err)
	}
	defer func() { _ = content.Close() }() // read only
	if err := a.noteDownload(c, run, map[string]any{"file": e.Name, "sha256": e.SHA256}); err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "application/octet-stream")
	header.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": e.Name}))
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("ETag", `"`+e.SHA256+`"`)
	header.Set("Cache-Control", "private, no-cache")
	http.ServeContent(c.Response(), c.Request(), "", e.UploadedAt, io.NewSectionReader(content, 0, content.Size()))
	return nil
}

// HeadKey is set in the echo context of a HEAD request that the server routes as GET.
const HeadKey = "heapdrift.head"

// noteDownload writes into the audit who takes something out of a project. A range that does not start at byte 0
// continues a download that is already noted; a suffix range (bytes=-N) is noted. HEAD sends no content, so it is not
// noted.
func (a *API) noteDownload(c echo.Context, run int64, what map[string]any) error {
	r := c.Request()
	begin := r.Header.Get("Range")
	if r.Method != http.MethodGet || c.Get(HeadKey) != nil ||
		begin != "" && !strings.HasPrefix(begin, "bytes=0-") && !strings.HasPrefix(begin, "bytes=-") {
		return nil
	}
	by, err := actorOf(r)
	if err != nil {
		return err
	}
	return a.store.CreateDownloadAudit(context.WithoutCancel(r.Context()), run, by, what)
}
