package pdb

import (
	"io"
	"math"
	"os"
	"syscall"
)

// smallFile is how many bytes a file may have whose pages may all count as memory of the process.
const smallFile = 32 << 20

// A mappedSource maps the file for small reads. Long reads of large files go past the map, so that their pages do not
// count as memory of the process.
type mappedSource struct {
	*blockSource
	data []byte
}

// openSource maps the file, or reads it where it cannot be mapped.
func openSource(file *os.File, size int64) (source, io.Closer, error) {
	plain := newBlockSource(file, size)
	if size <= 0 || size > math.MaxInt {
		return plain, file, nil
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return plain, file, nil //nolint:nilerr // file systems that cannot map can be read
	}
	s := &mappedSource{plain, data}
	return s, closers{unmap(data), file}, nil
}

func (s *mappedSource) bytes(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > s.length || int64(n) > s.length-off {
		return nil, fail(CodeTruncated, -1, off, "the file ends at %#x, %d bytes are needed here", s.length, n)
	}
	return s.data[off : off+int64(n) : off+int64(n)], nil
}

func (s *mappedSource) read(off int64, p []byte) error {
	if len(s.data) > smallFile || off < 0 || off > s.length || int64(len(p)) > s.length-off {
		return s.blockSource.read(off, p)
	}
	copy(p, s.data[off:])
	return nil
}

type unmap []byte

func (m unmap) Close() error { return syscall.Munmap(m) }

type closers []io.Closer

// Close closes all and returns the first error.
func (c closers) Close() error {
	var first error
	for _, closer := range c {
		if err := closer.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
