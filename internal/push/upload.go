package push

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxChunk is how much one request carries, in bytes: what a proxy in between holds back until it is whole is lost
	// with the connection.
	maxChunk = 64 << 20
	// stall is how long a connection may take nothing of a file before it is given up.
	stall = time.Minute
	// answerTime is how long a request without a file may take.
	answerTime = time.Minute
	// farewellTime is how long giving an upload up may take after the user has interrupted.
	farewellTime = 5 * time.Second
	// maxUploads is how often one file is begun anew, where the server has lost what it had.
	maxUploads = 3
)

// upload sends a file by tus 1.0.0 and returns the answer to its last byte. It goes on where the server says that it
// stands. moved is told how far the file is, in bytes.
func (c *Client) upload(ctx context.Context, s *source, metadata map[string]string,
	moved func(at int64)) (*answer, error) {
	for n := 1; ; n++ {
		a, err := c.uploadOnce(ctx, s, metadata, moved)
		var refusal *Error // of the beginning: there is nothing that could be lost
		lost := !errors.As(err, &refusal) && (isRefused(err, http.StatusNotFound) || isRefused(err, http.StatusGone))
		if !lost || n == maxUploads {
			return a, err
		}
		if c.Note != nil {
			c.Note("the server has lost the upload of " + s.path + "; it begins anew")
		}
	}
}

func (c *Client) uploadOnce(ctx context.Context, s *source, metadata map[string]string,
	moved func(at int64)) (*answer, error) {
	created, err := c.ask(ctx,
		request{method: http.MethodPost, path: "/api/v1/evidence", timeout: answerTime, header: map[string]string{
			"Tus-Resumable": "1.0.0", "Upload-Length": strconv.FormatInt(s.size, 10),
			"Upload-Metadata": encodeMetadata(metadata),
		}})
	var refused *Refusal
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == "not-found" {
		return nil, &Error{
			Code: CodeNoProject, Message: "the server has no project " + strconv.Quote(metadata["project"]) +
				", or the token is not one of it",
			Do: "make the token in the settings of the project; who administers the server makes the project",
		}
	}
	if isRefused(err, http.StatusNotFound) || isRefused(err, http.StatusMethodNotAllowed) {
		return nil, &Error{Code: CodeNotHeapdrift, Message: "the server takes no uploads",
			Do: "check that --url is the address of a heapdrift server", Err: err}
	}
	if err != nil {
		return nil, err
	}
	u := tusUpload{client: c, source: s, moved: moved}
	if u.path, err = c.uploadPath(created.header.Get("Location")); err != nil {
		return nil, err
	}
	last, err := u.send(ctx)
	if err != nil {
		u.giveUp(ctx, err)
	}
	return last, err
}

// uploadPath is the path of an upload, from the server's answer. An address on another server is refused.
func (c *Client) uploadPath(location string) (string, error) {
	path := strings.TrimPrefix(location, c.root)
	if !strings.HasPrefix(path, "/api/v1/evidence/") {
		return "", &Error{Code: CodeNotHeapdrift, Message: fmt.Sprintf("the server puts the upload at %q", location),
			Do: "check that --url is the address of a heapdrift server"}
	}
	return path, nil
}

// A tusUpload is a file on its way.
type tusUpload struct {
	client *Client
	source *source
	path   string
	at     int64 // the offset that the server last named
	moved  func(at int64)
}

// send sends all that the server does not have.
func (u *tusUpload) send(ctx context.Context) (*answer, error) {
	var tries attempts
	for {
		before := u.at
		a, err := u.patch(ctx)
		if err == nil {
			tries.progressed()
			if u.at == u.source.size {
				return a, nil
			}
			continue
		}
		if isRefused(err, http.StatusConflict) && tries.failed+1 < maxTries { // it stands elsewhere: ask where, and go on
			tries.failed++
		} else if err := tries.again(ctx, u.client, err); err != nil {
			return nil, err
		}
		if err := u.ask(ctx); err != nil {
			return nil, err
		}
		if u.at > before {
			tries.progressed()
		}
	}
}

// patch sends the next bytes. An upload that the server has whole is asked for its answer by a request without any.
func (u *tusUpload) patch(ctx context.Context) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stall, func() { cancel(errors.New("the connection accepts no more data")) })
	defer stalled.Stop()
	to := min(u.at+maxChunk, u.source.size)
	body := &section{source: u.source, ctx: ctx, at: u.at, to: to}
	body.moved = func(at int64) {
		stalled.Reset(stall)
		if at == to { // from here on the server works: large files take their time
			stalled.Stop()
		}
		u.moved(at)
	}
	if u.at == to {
		stalled.Stop()
	}
	a, err := u.client.once(ctx, request{method: http.MethodPatch, path: u.path, header: map[string]string{
		"Tus-Resumable": "1.0.0", "Upload-Offset": strconv.FormatInt(u.at, 10),
		"Content-Type": "application/offset+octet-stream",
	}, body: func() (io.Reader, int64) { return body, to - u.at }})
	if failed := body.failed(); failed != nil && ctx.Err() == nil { // the file, not the connection
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	return a, u.stands(a)
}

// ask asks how far the server is.
func (u *tusUpload) ask(ctx context.Context) error {
	a, err := u.client.ask(ctx,
		request{method: http.MethodHead, path: u.path, header: map[string]string{"Tus-Resumable": "1.0.0"},
			timeout: answerTime})
	if err != nil {
		return err
	}
	return u.stands(a)
}

// stands believes the offset of an answer as far as the file reaches.
func (u *tusUpload) stands(a *answer) error {
	text := a.header.Get("Upload-Offset")
	if text == "" && a.header.Get("X-Heapdrift-Modules") != "" { // the answer about symbols that are whole
		text = strconv.FormatInt(u.source.size, 10)
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil || at < 0 || at > u.source.size {
		return &Error{Code: CodeOffset, File: u.source.path,
			Message: fmt.Sprintf("the server says that it has %q of %d bytes", text, u.source.size),
			Do:      "check whether a proxy changes what goes through it"}
	}
	u.at = at
	u.moved(at)
	return nil
}

// giveUp deletes what the server has of an upload that will not be continued, so that it need not wait a day for the
// rest. What it refused is gone.
func (u *tusUpload) giveUp(ctx context.Context, why error) {
	var refused *Refusal
	if errors.As(why, &refused) && !refused.isPassing() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	_, _ = u.client.once(ctx, request{method: http.MethodDelete, path: u.path, header: map[string]string{"Tus-Resumable": "1.0.0"}}) // the server sweeps it otherwise
}

// encodeMetadata writes an Upload-Metadata header, without empty values.
func encodeMetadata(fields map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] != "" {
			pairs = append(pairs, name+" "+base64.StdEncoding.EncodeToString([]byte(fields[name])))
		}
	}
	return strings.Join(pairs, ",")
}
