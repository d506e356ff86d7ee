package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"time"

	"heapdrift/internal/intake"
	"heapdrift/internal/slots"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/web/problem"
)

// partBytes is the most that a part holds. A part is buffered whole, so that a short one can be kept and the store
// is locked only while it is written, not while a slow client sends it.
const partBytes = 8 << 20

// How long storing may take once its bytes are there. The client may have gone by then: what it sent is kept.
const (
	storeTimeout  = time.Minute
	acceptTimeout = 30 * time.Minute
)

// receive stores what comes from a client, part by part, and counts u on. Whatever ends the body early, all that came
// is kept.
func (a *API) receive(ctx context.Context, holder slots.Holder, u *uploadstore.Upload, body *body) error {
	leave, err := a.receiving.Enter(ctx, holder)
	if err != nil {
		return err
	}
	defer leave()
	body.crowded = a.receiving.Crowded
	defer body.until(a.closing)()
	digest, err := resumeDigest(u.HashState)
	if err != nil {
		return fmt.Errorf("api: upload %s: %w", u.ID, err)
	}
	buffer := make([]byte, min(partBytes, u.Length-u.Received))
	started := u.Received
	for u.Result == nil {
		n, err := io.ReadFull(body, buffer[:min(partBytes, u.Length-u.Received)])
		if n > 0 {
			digest.Write(buffer[:n])
			if err := a.keep(context.WithoutCancel(ctx), holder, u, buffer[:n], digest); err != nil {
				return err
			}
		}
		if err != nil && u.Result == nil {
			break
		}
	}
	if body.err != nil && u.Result == nil && (!body.isClosing() || u.Received == started) {
		return body.err
	}
	return nil // a server that shuts down answers how far it came
}

// keep stores a part and records it; the last one completes the upload.
func (a *API) keep(ctx context.Context, holder slots.Holder, u *uploadstore.Upload, part []byte,
	digest hash.Hash) error {
	last := u.Received+int64(len(part)) == u.Length
	timeout := storeTimeout
	if last {
		timeout = acceptTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if last {
		leave, err := a.finishing.Enter(ctx, holder)
		if err != nil {
			return err
		}
		defer leave()
	}
	locked, err := uploadstore.LockUpload(ctx, a.store, u.ID)
	if err != nil {
		return err
	}
	defer locked.Release(ctx)
	if locked.Received != u.Received || locked.Result != nil { // another node was faster
		return mismatch(u.Received, offsetOf(locked.Upload))
	}
	number := locked.Parts + 1
	if err := a.putPart(ctx, u.ID, number, bytes.NewReader(part)); err != nil {
		return err
	}
	if last {
		err = a.finish(ctx, locked, number, digest.Sum(nil))
	} else {
		err = advance(ctx, locked, int64(len(part)), number, digest)
	}
	*u = locked.Upload
	return err
}

func advance(ctx context.Context, locked *uploadstore.LockedUpload, n int64, parts int, digest hash.Hash) error {
	state, err := digest.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return fmt.Errorf("api: upload %s: %w", locked.ID, err)
	}
	return locked.Advance(ctx, locked.Received+n, parts, state)
}

// finish hands the whole file to intake. Until intake has answered, the last part does not count as received: after
// a failure of the server the client comes back with it and finish is tried again. A file that is refused is gone
// with its upload.
func (a *API) finish(ctx context.Context, locked *uploadstore.LockedUpload, parts int, digest []byte) error {
	var created pendingUpload
	if err := json.Unmarshal(locked.Target, &created); err != nil {
		return fmt.Errorf("api: upload %s: %w", locked.ID, err)
	}
	file := a.openParts(ctx, locked.ID, parts, digest)
	result, err := a.accept(ctx, created, intake.Body{Reader: file, Bytes: locked.Length, Reserved: true})
	file.close()
	if err != nil {
		if problem.FromError(err).Status < http.StatusInternalServerError {
			return errors.Join(err, a.forget(ctx, &locked.Upload))
		}
		return err
	}
	if err := locked.Complete(ctx, result); err != nil {
		return err
	}
	if err := a.deleteParts(ctx, locked.ID, parts); err != nil {
		a.log.Warn("api: parts of a complete upload stay until they are swept", "upload", locked.ID, "error", err)
	}
	return nil
}

// accept hands a file to intake and returns the answer to the client.
func (a *API) accept(ctx context.Context, created pendingUpload, file io.Reader) (any, error) {
	if created.Kind == kindSymbols {
		taken, err := a.intake.AcceptSymbols(ctx, created.Group, created.Name, file)
		return acceptedSymbolsOf(taken), err
	}
	evidence, err := a.intake.Accept(ctx, created.UploadTarget, created.Name, file)
	return acceptedOf(evidence), err
}

// resumeDigest takes the running SHA-256 up where the last request left it.
func resumeDigest(state []byte) (hash.Hash, error) {
	digest := sha256.New()
	if state == nil {
		return digest, nil
	}
	if err := digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("state of the digest: %w", err)
	}
	return digest, nil
}

// enter waits for a slot.
func enter(ctx context.Context, free chan struct{}) error {
	select {
	case free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func leave(free chan struct{}) { <-free }
