package api

import (
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/web/problem"
)

// uploadPatch handles PATCH /api/v1/evidence/:id: the next bytes of the file, as many as the connection carries. The
// last of them hand the file to intake.
func (a *API) uploadPatch(c echo.Context) error {
	r := c.Request()
	id, err := uploadID(c)
	if err != nil {
		return err
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType)); err != nil ||
		media != offsetStreamType {
		return problem.New(http.StatusUnsupportedMediaType, problem.CodeWrongContentType, "the content type must be %s",
			offsetStreamType)
	}
	offset, err := byteCount(r, headerOffset)
	if err != nil {
		return err
	}
	release, err := a.claims.take(r.Context(), id)
	if err != nil {
		return err
	}
	defer release()
	upload, err := a.upload(r.Context(), id)
	if err != nil {
		return err
	}
	switch at := offsetOf(upload); {
	case offset != at:
		return mismatch(offset, at)
	case upload.Result != nil: // the last request once more, whose answer was lost
		return sendOffset(c, http.StatusNoContent, upload)
	case r.ContentLength > upload.Length-offset:
		return problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge,
			"%d bytes are missing, the request carries %d", upload.Length-offset, r.ContentLength)
	}
	check := a.intake.CheckSpace
	if !upload.Reserved { // it began before uploads were reserved, or without a quota
		check = func(bytes int64) error { return a.intake.CheckQuota(r.Context(), bytes) }
	}
	if err := check(upload.Length - offset); err != nil {
		return err
	}
	if err := a.receive(r.Context(), c.RealIP(), &upload, bodyOf(c)); err != nil {
		return err
	}
	return sendOffset(c, http.StatusNoContent, upload)
}

func mismatch(sent, stands int64) error {
	return problem.New(http.StatusConflict, problem.CodeOffsetMismatch, "the request starts at offset %d, the upload stands at %d",
		sent, stands)
}

// uploadOverride handles POST /api/v1/evidence/:id for clients that can send no PATCH or DELETE.
func (a *API) uploadOverride(c echo.Context) error {
	switch c.Request().Header.Get(headerOverride) {
	case http.MethodPatch:
		return a.uploadPatch(c)
	case http.MethodDelete:
		return a.uploadDelete(c)
	}
	return echo.ErrMethodNotAllowed
}
