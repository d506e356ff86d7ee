package debugdiag

import (
	"context"
	"errors"
	"io"
)

// A source reads the file. It remembers what failed, which the decoders above it report as damage of the document.
type source struct {
	ctx    context.Context
	r      io.Reader
	offset int64
	err    error // of r or of the context, never io.EOF
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.offset += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
