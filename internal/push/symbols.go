package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols"
)

// sendSymbols sends a PDB, an image or an archive of them, unless the server has it.
func (c *Client) sendSymbols(ctx context.Context, f *File, group string, moved func(at int64)) (Outcome, error) {
	s, err := openSource(f.Path)
	if err != nil {
		return "", err
	}
	defer s.close()
	name := filepath.Base(f.Path)
	id, err := symbols.Identify(ctx, name, s.file, s.size)
	switch {
	case err == nil:
		known, err := c.hasSymbols(ctx, id, s.size)
		if err != nil || known {
			return OutcomeKnown, err
		}
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case evidence.Refusal(err) == nil: // a refusal may be one of an archive, which the server looks into
		return "", &Error{Code: CodeUnreadable, File: f.Path, Message: "the file cannot be read", Err: err}
	}
	_, err = c.upload(ctx, s, map[string]string{"kind": "symbols", "filename": name, "group": group}, moved)
	return OutcomeSent, err
}

// hasSymbols reports whether the server has symbols of that id and size.
func (c *Client) hasSymbols(ctx context.Context, id symbols.Identity, size int64) (bool, error) {
	name := url.PathEscape(id.Name)
	a, err := c.ask(ctx,
		request{method: http.MethodHead, path: "/symbols/" + name + "/" + id.Key() + "/" + name, timeout: answerTime})
	var refused *Refusal
	if errors.As(err, &refused) && !refused.isPassing() { // it says no: the server takes the file as often as it comes
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return a.header.Get("Content-Length") == fmt.Sprint(size), nil
}
