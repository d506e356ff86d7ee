package query

import (
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
)

// maxWindow bounds what unpacking a stored report may take, in bytes; it is written with a window of 1 MB.
const maxWindow = 8 << 20

// OpenReport opens a stored report as plain JSON; key is that of its blob.
func OpenReport(ctx context.Context, blobs blob.Store, key string) (io.ReadCloser, error) {
	stored, err := blobs.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("query: open report: %w", err)
	}
	return UnpackReport(stored)
}

// UnpackReport returns a stored report as plain JSON. Closing the result closes stored.
func UnpackReport(stored blob.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(io.NewSectionReader(stored, 0, stored.Size()), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		_ = stored.Close() // read only
		return nil, fmt.Errorf("query: open report: %w", err)
	}
	return &storedReport{z, stored}, nil
}

type storedReport struct {
	*zstd.Decoder
	blob io.Closer
}

// Close implements io.Closer.
func (s *storedReport) Close() error {
	s.Decoder.Close()
	return s.blob.Close()
}

// ReadReport reads a stored report whole. It stops when the context ends.
func ReadReport(ctx context.Context, blobs blob.Store, key string) (*analysis.Report, error) {
	stored, err := OpenReport(ctx, blobs, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stored.Close() }() // read only
	return analysis.ReadJSON(&whileWanted{ctx, stored})
}

// whileWanted reads until its context ends.
type whileWanted struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (w *whileWanted) Read(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.r.Read(p)
}
