package minidump

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

var le = binary.LittleEndian

// A source is the file. ctx is that of Open: the methods of a dump read on demand and have none of their own.
type source struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
}

var errShort = errors.New("the file is shorter than its size said")

// read fills p from an offset; p must lie inside the file. Whoever reads in a loop stops at the context's end with it.
func (s *source) read(p []byte, at int64) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	n, err := s.r.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return errShort
	}
	return err
}

// room is how many bytes of size are there at an offset.
func (s *source) room(at, size int64) int64 {
	if at < 0 || at >= s.size || size <= 0 {
		return 0
	}
	return min(size, s.size-at)
}

// A window reads small things that lie close to each other with few accesses.
type window struct {
	src  *source
	at   int64
	held []byte
	buf  []byte
}

const windowSize = 8 << 10

// bytes gives n bytes at an offset, fewer where the file ends before. They are good until the next call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	n = int(w.src.room(at, int64(n)))
	if n == 0 {
		return nil, nil
	}
	if from := at - w.at; from >= 0 && from+int64(n) <= int64(len(w.held)) {
		return w.held[from:][:n], nil
	}
	ahead := int(w.src.room(at, max(windowSize, int64(n))))
	if cap(w.buf) < ahead {
		w.buf = make([]byte, ahead)
	}
	w.at, w.held = at, w.buf[:0]
	if err := w.src.read(w.buf[:ahead], at); err != nil {
		return nil, err
	}
	w.held = w.buf[:ahead]
	return w.held[:n], nil
}
