package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"heapdrift/internal/tempfile"
)

// localBytes is how much of a blob is in memory at once while it is copied.
const localBytes = 8 << 20

// Content is content that can be read at any offset: a Reader of a blob, or another file.
type Content interface {
	io.ReaderAt
	io.Closer
	// Size is the length of the content in bytes.
	Size() int64
}

// A LocalFile is content that lies in a file of this machine.
type LocalFile interface {
	Content
	// Descriptor is the open file. It is closed with the content.
	Descriptor() *os.File
}

// Local returns the content as a file of this machine, for what reads at random or in another process: r itself if it
// is one, else a copy in a temporary file that no folder lists. The caller closes the result, and no longer r.
func Local(ctx context.Context, r Content) (_ LocalFile, err error) {
	if here, ok := r.(LocalFile); ok {
		return here, nil
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := tempfile.New("heapdrift-blob-")
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	from := contextReader{ctx, io.NewSectionReader(r, 0, r.Size())}
	// Only a Reader and a Writer: the buffer is what goes in one request.
	if _, err := io.CopyBuffer(struct{ io.Writer }{f}, from, make([]byte, min(localBytes, max(r.Size(), 1)))); err != nil {
		return nil, errors.Join(fmt.Errorf("blob: temporary copy: %w", err), f.Close())
	}
	return &temporaryFile{f, r.Size()}, nil
}

// A temporaryFile is deleted when it is closed.
type temporaryFile struct {
	*os.File
	size int64
}

// Size implements Content.
func (t *temporaryFile) Size() int64 { return t.size }

// Descriptor implements LocalFile.
func (t *temporaryFile) Descriptor() *os.File { return t.File }

// contextReader ends with a context.
type contextReader struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to be told
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx) //nolint:wrapcheck // the caller's own
	}
	return c.r.Read(p) //nolint:wrapcheck // a reader passes errors on as they are
}
