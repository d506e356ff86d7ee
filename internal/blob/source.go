package blob

import (
	"context"
	"fmt"
	"io"
)

// A source is what a Put reads from.
type source struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to hear of it
	r   io.Reader
}

func (s *source) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx) //nolint:wrapcheck // the caller's own
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // the end is io.EOF itself, by io.Reader's contract
		// Wrapped, or else minio-go takes the io.ErrUnexpectedEOF of a connection that was cut for the end.
		err = fmt.Errorf("read what to store: %w", err)
	}
	return n, err
}
