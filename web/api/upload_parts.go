package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
)

// partKey is where a part of an upload lies; parts count from 1.
func partKey(upload string, number int) string {
	return "uploads/" + upload + "/" + strconv.Itoa(number)
}

// putPart stores a part. One that an earlier request left behind unrecorded under the same number is replaced.
func (a *API) putPart(ctx context.Context, upload string, number int, part *bytes.Reader) error {
	if _, err := a.blobs.Put(ctx, partKey(upload, number), part); err != nil {
		return fmt.Errorf("api: upload %s: store part %d: %w", upload, number, err)
	}
	return nil
}

// deleteParts deletes the parts of an upload up to a number.
func (a *API) deleteParts(ctx context.Context, upload string, parts int) error {
	for number := 1; number <= parts; number++ {
		if err := a.blobs.Delete(ctx, partKey(upload, number)); err != nil {
			return fmt.Errorf("api: upload %s: delete part %d: %w", upload, number, err)
		}
	}
	return nil
}

// A partFile reads the parts of an upload as one file. At the end it compares the digest with that of what was
// received: a part that was damaged since must not become evidence.
type partFile struct {
	api    *API
	ctx    context.Context
	upload string
	next   int // number of the part to open
	parts  int
	want   []byte
	digest hash.Hash
	part   io.Reader // nil between parts
	opened io.Closer // of part
}

func (a *API) openParts(ctx context.Context, upload string, parts int, want []byte) *partFile {
	return &partFile{api: a, ctx: ctx, upload: upload, next: 1, parts: parts, want: want, digest: sha256.New()}
}

func (f *partFile) Read(p []byte) (int, error) {
	for {
		if f.part == nil {
			if err := f.open(); err != nil {
				return 0, err
			}
		}
		n, err := f.part.Read(p)
		f.digest.Write(p[:n])
		if errors.Is(err, io.EOF) {
			f.close()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// open goes on to the next part; after the last one it returns io.EOF if the digest is right.
func (f *partFile) open() error {
	if f.next > f.parts {
		if !bytes.Equal(f.digest.Sum(nil), f.want) {
			return fmt.Errorf("api: upload %s: its parts differ from the received bytes", f.upload)
		}
		return io.EOF
	}
	r, err := f.api.blobs.Open(f.ctx, partKey(f.upload, f.next))
	if err != nil {
		return fmt.Errorf("api: upload %s: open part %d: %w", f.upload, f.next, err)
	}
	f.part, f.opened = io.NewSectionReader(r, 0, r.Size()), r
	f.next++
	return nil
}

func (f *partFile) close() {
	if f.opened != nil {
		_ = f.opened.Close() // read only
	}
	f.part, f.opened = nil, nil
}
