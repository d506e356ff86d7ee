package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
)

// uploadHead handles HEAD /api/v1/evidence/:id: how far the upload is, and its run once it is complete.
func (a *API) uploadHead(c echo.Context) error {
	id, err := uploadID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	// A client that asks after a broken connection must hear of all bytes that came. Where another request goes on
	// writing, any answer is outdated at once.
	if release, err := a.claims.take(ctx, id); err == nil {
		release()
	}
	upload, err := a.upload(ctx, id)
	if err != nil {
		return err
	}
	var created pendingUpload
	if err := json.Unmarshal(upload.Target, &created); err != nil {
		return fmt.Errorf("api: upload %s: %w", id, err)
	}
	header := c.Response().Header()
	header.Set(headerLength, strconv.FormatInt(upload.Length, 10))
	if created.Metadata != "" {
		header.Set(headerMetadata, created.Metadata)
	}
	return sendOffset(c, http.StatusOK, upload)
}

// upload returns an upload under way.
func (a *API) upload(ctx context.Context, id string) (uploadstore.Upload, error) {
	return store.Read(ctx, a.store, func(v store.View) (uploadstore.Upload, error) {
		return uploadstore.FindUpload(ctx, v, id)
	})
}

// offsetOf is how much of an upload has been taken. All of it counts as taken once it is accepted: until then the
// client must have a reason to come back with the rest.
func offsetOf(u uploadstore.Upload) int64 {
	if u.Result != nil {
		return u.Length
	}
	return u.Received
}

// sendOffset answers with the upload's offset and, where it is complete, with what became of it. What became of symbols
// does not fit into headers: they count it, and the answer to the last PATCH has it as its body.
func sendOffset(c echo.Context, status int, u uploadstore.Upload) error {
	header := c.Response().Header()
	header.Set(headerOffset, strconv.FormatInt(offsetOf(u), 10))
	if u.Result == nil {
		return c.NoContent(status)
	}
	var created pendingUpload
	if err := json.Unmarshal(u.Target, &created); err != nil {
		return fmt.Errorf("api: upload %s: %w", u.ID, err)
	}
	if created.Kind == kindSymbols {
		return sendSymbols(c, u)
	}
	var result evidenceReceipt
	if err := json.Unmarshal(u.Result, &result); err != nil {
		return fmt.Errorf("api: upload %s: %w", u.ID, err)
	}
	header.Set(headerRun, strconv.FormatInt(result.Run, 10))
	header.Set(headerURL, result.URL)
	return c.NoContent(status)
}

func sendSymbols(c echo.Context, u uploadstore.Upload) error {
	var result symbolsReceipt
	if err := json.Unmarshal(u.Result, &result); err != nil {
		return fmt.Errorf("api: upload %s: %w", u.ID, err)
	}
	header := c.Response().Header()
	header.Set(headerModules, strconv.Itoa(len(result.Modules)))
	header.Set(headerRefused, strconv.Itoa(len(result.Refused)))
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	return c.JSON(http.StatusOK, result)
}
