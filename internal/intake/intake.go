// Package intake takes in evidence and symbol files. In come a target and the bytes of a file; the package stores the
// bytes, checks that they have the format that they are sent as, and records them with the jobs that will read them.
// Out goes the stored record, or an error that says why the file is refused; a refused file leaves nothing behind.
package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"

	"heapdrift/ingest"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/slots"
	"heapdrift/internal/store"
)

// An Intake accepts evidence and symbols. It is safe for concurrent use.
type Intake struct {
	Store    *store.Store
	Blobs    blob.Store
	MaxBytes int64 // the largest file accepted; 0 for no limit
	// MinFree is how many bytes of the disk stay free; 0 for none.
	MinFree int64
	// TokenQuota is how many bytes may be uploaded with a token in a day, in UTC; 0 for no limit.
	TokenQuota int64
	// Taken is called with the size of every file that was accepted; nil for no call.
	Taken func(bytes int64)
	// Sandbox inspects packed files and symbol files in child processes; nil does it in this one.
	Sandbox *sandbox.Runner
	// Unpacking are the slots of these processes, which uploads share by account; nil for no limit.
	Unpacking *slots.Slots
}

// recordTimeout bounds moving a file that is there and recording it.
const recordTimeout = 5 * time.Minute

// ErrTooLarge says that a file is larger than MaxBytes.
var ErrTooLarge = errors.New("intake: the file is larger than this server takes")

// formats are those that evidence may be of.
var formats = ingest.Formats()

// Formats returns the facts of all formats that are read, for pages and the API, which know no reader.
func Formats() evidence.Formats { return ingest.Formats() }

// HeadBytes is how many bytes of the beginning of a file InspectStart reads.
const HeadBytes = ingest.HeadBytes

// InspectStart says what a file is by its name and its first bytes, before it is sent. Accept refuses the same with the
// same words.
func InspectStart(name string, head []byte) (ingest.FileStart, error) {
	name, err := cleanName(name)
	if err != nil {
		return ingest.FileStart{}, err
	}
	return ingest.InspectStart(name, head), nil
}

// Accept reads a file to its end and stores it under its target. Its error is an *evidence.Error where the file is
// not evidence that can be read, a *leaks.FieldError where the target is wrong, or ErrTooLarge.
func (in *Intake) Accept(ctx context.Context, t leaks.UploadTarget, name string,
	body io.Reader) (store.Evidence, error) {
	if err := t.Normalize(); err != nil {
		return store.Evidence{}, err
	}
	name, err := cleanName(name)
	if err != nil {
		return store.Evidence{}, err
	}
	metered, err := in.meter(ctx, body)
	if err != nil {
		return store.Evidence{}, err
	}
	e, err := in.accept(ctx, t, name, metered)
	return e, errors.Join(err, metered.settle(err == nil))
}

// accept stores a file and records it.
func (in *Intake) accept(ctx context.Context, t leaks.UploadTarget, name string,
	body io.Reader) (store.Evidence, error) {
	if in.MaxBytes > 0 {
		body = &limitedReader{r: body, left: in.MaxBytes}
	}
	// The file is inspected under a key of its own: a refused file must not touch a blob that others rely on.
	key := blob.IncomingKey()
	digest, err := blob.PutDigest(ctx, in.Blobs, key, body)
	if err != nil {
		return store.Evidence{}, fmt.Errorf("intake: store %s: %w", name, err)
	}
	kind, err := in.inspect(ctx, key, name)
	if err != nil {
		return store.Evidence{}, errors.Join(err, in.Blobs.Delete(context.WithoutCancel(ctx), key))
	}
	// From here on a client that leaves must not leave half behind.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := in.Blobs.Rename(ctx, key, blob.ContentKey(digest.SHA256)); err != nil {
		return store.Evidence{},
			errors.Join(fmt.Errorf("intake: store %s: %w", name, err), in.Blobs.Delete(context.WithoutCancel(ctx), key))
	}
	e, err := in.Store.CreateEvidence(ctx, t,
		store.Evidence{Name: name, SHA256: digest.SHA256, Bytes: digest.Bytes, Kind: string(kind)})
	if err != nil {
		return store.Evidence{}, fmt.Errorf("intake: record %s: %w", name, err)
	}
	// Between the rename and the record a keeper may have deleted the same bytes as those of an older file.
	if _, err := in.Blobs.Stat(ctx, blob.ContentKey(digest.SHA256)); err != nil {
		return store.Evidence{},
			fmt.Errorf("intake: %s went with an older file of the same content; send it again: %w", name, err)
	}
	return e, nil
}

func (in *Intake) inspect(ctx context.Context, key, name string) (evidence.Kind, error) {
	r, err := in.Blobs.Open(ctx, key)
	if err != nil {
		return "", fmt.Errorf("intake: look at %s: %w", name, err)
	}
	defer func() { _ = r.Close() }()
	if in.Sandbox != nil {
		packed, err := ingest.IsPacked(r)
		if err != nil {
			return "", fmt.Errorf("intake: look at %s: %w", name, err)
		}
		if packed {
			return in.inspectPacked(ctx, r, name)
		}
	}
	return ingest.Inspect(ctx, ingest.Source{Name: name, ReaderAt: r, Size: r.Size()})
}

// cleanName keeps the last element of a file name, whatever system it comes from.
func cleanName(name string) (string, error) {
	name = printable(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if name = strings.TrimSpace(name); name == "" || name == "." || name == "/" {
		return "", &leaks.FieldError{Field: "name", Message: "is missing: give the file's name"}
	}
	if runes := []rune(name); len(runes) > 200 {
		name = string(runes[:200])
	}
	return name, nil
}

// printable drops what can neither be shown nor stored, and shows what would act without being seen: a mark that turns
// the direction of writing has "gpj.exe" end as a picture.
func printable(name string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(name, "_") {
		switch {
		case unicode.IsControl(r):
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// limitedReader fails with ErrTooLarge when more than left bytes come.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // one byte more than allowed tells a file of just that size from a larger one
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n, ErrTooLarge
	}
	return n, err
}
