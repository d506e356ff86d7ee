package api

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/slots"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/store/uploadstore"
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
	if err := a.intake.CheckSpace(upload.Length - offset); err != nil {
		return err
	}
	reserved, err := a.intake.ReserveQuota(r.Context(), upload.Length-offset)
	if err != nil {
		return err
	}
	err = a.receive(r.Context(), uploader(c), &upload, bodyOf(c))
	if err := errors.Join(err, a.settle(r.Context(), &upload, reserved, offset)); err != nil {
		return err
	}
	return sendOffset(c, http.StatusNoContent, upload)
}

// uploader is who takes slots for an upload: a token, a user, or the address of whoever is not known.
func uploader(c echo.Context) slots.Holder {
	holder := holderOf(accounts.ActorFrom(c.Request().Context()))
	holder.Account = cmp.Or(holder.Account, "address "+c.RealIP())
	return holder
}

// holderOf is an actor as it takes slots.
func holderOf(a *accounts.Actor) slots.Holder {
	return slots.Holder{ProjectID: a.ProjectID, Account: a.Account()}
}

// settle counts what a request has brought of an upload in the quota of its token, and gives back what was reserved for
// more. An upload that was refused is gone, and counts for nothing.
func (a *API) settle(ctx context.Context, u *uploadstore.Upload, reserved store.Traffic, from int64) error {
	if reserved.TokenID == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	came := reserved
	came.Bytes = u.Received - from
	err := uploadstore.UpdateTraffic(ctx, a.store, u.ID, came)
	if errors.Is(err, store.ErrNotFound) {
		came.Bytes, err = 0, nil
	}
	return errors.Join(err, accountstore.ReleaseTraffic(ctx, a.store, reserved, came.Bytes))
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
