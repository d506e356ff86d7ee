package pdb

import (
	"errors"
	"io"
	"sync"

	"heapdrift/ingest/evidence"
)

// A source gives bytes of the file. What bytes returns is shared and must not be written to.
type source interface {
	bytes(off int64, n int) ([]byte, error)
	read(off int64, p []byte) error
	size() int64
}

const (
	blockSize  = 64 << 10 // of what is read and kept at once
	blocksKept = 256      // 16 MiB
)

// A blockSource keeps blocks of a reader, for the many small reads of searches.
type blockSource struct {
	r      io.ReaderAt
	length int64

	mu     sync.Mutex
	blocks map[int64][]byte
	order  []int64 // of the blocks, a ring
	next   int
}

func newBlockSource(r io.ReaderAt, size int64) *blockSource {
	return &blockSource{r: r, length: size, blocks: map[int64][]byte{}}
}

func (s *blockSource) size() int64 { return s.length }

func (s *blockSource) read(off int64, p []byte) error {
	if off < 0 || off > s.length || int64(len(p)) > s.length-off {
		return fail(CodeTruncated, -1, off, "the file ends at %#x, %d bytes are needed here", s.length, len(p))
	}
	n, err := s.r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fail(CodeTruncated, -1, off+int64(n), "the file ends here, %d bytes more are needed", len(p)-n)
	}
	return &evidence.Error{Code: CodeReadFailed, Offset: off + int64(n), Message: "reading failed", Err: err}
}

func (s *blockSource) bytes(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > s.length || int64(n) > s.length-off {
		return nil, fail(CodeTruncated, -1, off, "the file ends at %#x, %d bytes are needed here", s.length, n)
	}
	at := int(off % blockSize)
	if at+n > blockSize {
		p := make([]byte, n)
		return p, s.read(off, p)
	}
	b, err := s.block(off / blockSize)
	if err != nil {
		return nil, err
	}
	return b[at : at+n : at+n], nil
}

func (s *blockSource) block(i int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.blocks[i]; ok {
		return b, nil
	}
	b := make([]byte, min(blockSize, s.length-i*blockSize))
	if err := s.read(i*blockSize, b); err != nil {
		return nil, err
	}
	if len(s.order) < blocksKept {
		s.order = append(s.order, i)
	} else {
		delete(s.blocks, s.order[s.next])
		s.order[s.next] = i
		s.next = (s.next + 1) % blocksKept
	}
	s.blocks[i] = b
	return b, nil
}
