package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"heapdrift/internal/blob"
)

// copyBytes is how much of a blob is in memory at once while it is copied.
const copyBytes = 8 << 20

// local gives what is read at random from a disk of this machine: r itself where the blobs lie on one, else a copy in a
// temporary file that no folder lists. It takes r over.
func local(ctx context.Context, r blob.Reader, remote bool) (blob.Reader, error) {
	if !remote {
		return r, nil
	}
	return copied(ctx, r)
}

// copied copies a blob to a temporary file and closes it.
func copied(ctx context.Context, r blob.Reader) (_ blob.Reader, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := os.CreateTemp("", "heapdrift-blob-*")
	if err != nil {
		return nil, fmt.Errorf("worker: temporary copy: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("worker: temporary copy: %w", err), f.Close())
	}
	from := contextReader{ctx, io.NewSectionReader(r, 0, r.Size())}
	// Only a Reader and a Writer: the buffer is what goes in one request.
	if _, err := io.CopyBuffer(struct{ io.Writer }{f}, from, make([]byte, min(copyBytes, max(r.Size(), 1)))); err != nil {
		return nil, errors.Join(fmt.Errorf("worker: temporary copy: %w", err), f.Close())
	}
	return &temporary{f, r.Size()}, nil
}

// contextReader ends with a context.
type contextReader struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to be told
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// A temporary is a file that goes when it is closed.
type temporary struct {
	*os.File
	size int64
}

// Size implements blob.Reader.
func (t *temporary) Size() int64 { return t.size }
