package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/leaks"
	"heapdrift/internal/symbols"
)

// A symbolKey is the place of a symbol file in a symbol store, name/key/name.
type symbolKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// A delivery is the symbols of one push.
type delivery struct {
	group string

	mu   sync.Mutex
	keys []symbolKey // of the files that the server has
}

func (d *delivery) add(keys ...symbolKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = append(d.keys, keys...)
}

// keysAtOnce is how many symbol files one request gives a build.
const keysAtOnce = 250

// bindSymbols says which symbol files belong to the target's build, so that those of other builds never take their
// place. Servers that are older do not take it.
func (c *Client) bindSymbols(ctx context.Context, t *leaks.UploadTarget, d *delivery) error {
	for keys := range slices.Chunk(d.keys, keysAtOnce) {
		_, err := c.sendJSON(ctx, http.MethodPost, buildPath(t.Project, t.Build)+"/symbols", map[string]any{"files": keys})
		if isRefused(err, http.StatusNotFound) || isRefused(err, http.StatusMethodNotAllowed) {
			if c.Note != nil {
				c.Note("the server is of an older version and does not take which symbols belong to a build")
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sendSymbols sends a PDB, an image or an archive of them, unless the server has it.
func (c *Client) sendSymbols(ctx context.Context, f *File, d *delivery, moved func(at int64)) (Outcome, error) {
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
		if err != nil {
			return OutcomeKnown, err
		}
		if known {
			d.add(symbolKey{id.Name, id.Key()})
			return OutcomeKnown, nil
		}
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case evidence.Refusal(err) == nil: // a refusal may be one of an archive, which the server looks into
		return "", &Error{Code: CodeUnreadable, File: f.Path, Message: "the file cannot be read", Err: err}
	}
	a, err := c.upload(ctx, s, map[string]string{"kind": "symbols", "filename": name, "group": d.group}, moved)
	if err != nil {
		return OutcomeSent, err
	}
	var taken struct {
		Modules []symbolKey `json:"modules"`
	}
	if a.decode(&taken) == nil && len(taken.Modules) > 0 {
		d.add(taken.Modules...)
	} else if id.Key() != "" { // the answer was lost with its connection, but what was sent is known
		d.add(symbolKey{id.Name, id.Key()})
	}
	return OutcomeSent, nil
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
