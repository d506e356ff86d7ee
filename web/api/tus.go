package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/web/problem"
)

// Resumable uploads follow tus 1.0.0 (https://tus.io/protocols/resumable-upload) with creation and termination.
// No node keeps anything of its own: an upload's offset and digest stand in its row, its bytes in the blob store as
// uploads/<id>/1, 2, …, so that any node can take the next request.
const (
	tusVersion    = "1.0.0"
	tusExtensions = "creation,termination"

	headerResumable  = "Tus-Resumable"
	headerVersion    = "Tus-Version"
	headerOffset     = "Upload-Offset"
	headerLength     = "Upload-Length"
	headerMetadata   = "Upload-Metadata"
	headerRun        = "X-Heapdrift-Run"
	headerURL        = "X-Heapdrift-Url"
	headerModules    = "X-Heapdrift-Modules"
	headerRefused    = "X-Heapdrift-Refused"
	headerOverride   = "X-HTTP-Method-Override"
	offsetStreamType = "application/offset+octet-stream"
)

// tus checks and answers the protocol's version on each of its routes.
func tus(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, header := c.Request(), c.Response().Header()
		header.Set(headerResumable, tusVersion)
		header.Set("Cache-Control", "no-store")
		if r.Method != http.MethodOptions && r.Header.Get(headerResumable) != tusVersion {
			header.Set(headerVersion, tusVersion)
			return problem.New(http.StatusPreconditionFailed, problem.CodeUnsupportedTusVersion,
				"this server speaks tus %s; the request's %s header says %q", tusVersion, headerResumable,
				r.Header.Get(headerResumable))
		}
		return next(c)
	}
}

// byteCount reads a header that counts bytes. Signs, blanks and repeated headers are refused.
func byteCount(r *http.Request, name string) (int64, error) {
	values := r.Header.Values(name)
	if len(values) == 1 && strings.Trim(values[0], "0123456789") == "" {
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil {
			return n, nil
		}
	}
	p := problem.Invalid(strings.ToLower(name), "the %s header must be there once and be a number of bytes", name)
	p.Status = http.StatusBadRequest
	return 0, p
}

// uploadID is the upload in the address. Ids are those of rand.Text; anything else names no upload.
func uploadID(c echo.Context) (string, error) {
	id := c.Param("id")
	if len(id) != 26 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return "", store.ErrNotFound
	}
	return id, nil
}

// claims are the uploads that this node is receiving. What keeps data right among all nodes is the lock of the
// upload's row; a claim makes the next request of a client that broke off wait until what it had sent is stored.
type claims struct {
	mu       sync.Mutex
	held     map[string]chan struct{} // closed when the claim is given back
	patience time.Duration            // how long to wait for another's claim; far less than a client that stands still is given
}

// take claims an upload and returns how to give it back, or store.ErrBusy where another request keeps it.
func (c *claims) take(ctx context.Context, id string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	for {
		c.mu.Lock()
		other, busy := c.held[id]
		if !busy {
			mine := make(chan struct{})
			c.held[id] = mine
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.held, id)
				close(mine)
			}, nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, uploadstore.ErrBusy
		}
	}
}
