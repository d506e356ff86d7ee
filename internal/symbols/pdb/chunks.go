package pdb

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/evidence"
)

const (
	maxChunk      = 256 << 20 // bytes of an unpacked chunk; writers make them of a few MiB
	chunkMemory   = 32 << 20  // bytes of unpacked chunks that are kept
	compressNone  = 0
	compressZstd  = 1
	compressFlate = 2
)

// unpack returns what a chunk holds. Memory grows with what comes out, not with what the file says.
func unpack(src source, c chunk) ([]byte, error) {
	if c.length > maxChunk {
		return nil, fail(CodeUnsupported, -1, c.at, "a chunk of %d bytes", c.length)
	}
	if int64(c.stored) > src.size() {
		return nil, fail(CodeTruncated, -1, c.at, "a chunk of %d bytes in a file of %d", c.stored, src.size())
	}
	b, err := src.bytes(c.at, int(c.stored))
	if err != nil {
		return nil, err
	}
	var r io.Reader
	switch c.compression {
	case compressNone:
		if c.stored != c.length {
			return nil, fail(CodeCorrupt, -1, c.at, "a chunk that is not compressed changes its size from %d to %d",
				c.length, c.stored)
		}
		return b, nil
	case compressZstd:
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxChunk))
		if err != nil {
			return nil, &evidence.Error{Code: CodeCorrupt, Offset: c.at, Message: "a chunk does not unpack", Err: err}
		}
		defer z.Close()
		r = z
	case compressFlate:
		r = flate.NewReader(bytes.NewReader(b))
	default:
		return nil, fail(CodeUnsupported, -1, c.at, "compression %d of MSFZ is not read", c.compression)
	}
	var out bytes.Buffer
	out.Grow(int(min(int64(c.length), 64*int64(c.stored)+512))) // more comes only where more comes out
	n, err := io.Copy(&out, io.LimitReader(r, int64(c.length)))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &evidence.Error{Code: CodeCorrupt, Offset: c.at, Message: "a chunk does not unpack", Err: err}
	}
	if n != int64(c.length) {
		return nil, fail(CodeCorrupt, -1, c.at, "a chunk holds %d bytes and not %d", n, c.length)
	}
	return out.Bytes(), nil
}

// A chunkCache keeps the chunks that were unpacked last.
type chunkCache struct {
	z *msfz

	mu    sync.Mutex
	kept  map[int][]byte
	order []int // oldest first
	bytes int64
}

func (c *chunkCache) chunk(i int) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.kept[i]; ok {
		return b, nil
	}
	b, err := unpack(c.z.src, c.z.chunks[i])
	if err != nil {
		return nil, err
	}
	for len(c.order) > 0 && c.bytes+int64(len(b)) > chunkMemory {
		c.bytes -= int64(len(c.kept[c.order[0]]))
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	if c.kept == nil {
		c.kept = map[int][]byte{}
	}
	c.kept[i] = b
	c.order = append(c.order, i)
	c.bytes += int64(len(b))
	return b, nil
}
