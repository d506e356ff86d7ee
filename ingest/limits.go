package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"heapdrift/ingest/evidence"
)

// Limits of what is unpacked. They count bytes that come out, never what an archive's headers claim.
const (
	maxUnpacked = 64 << 30 // bytes in all
	maxRatio    = 200      // bytes out per byte in …
	freeRatio   = 16 << 20 // … after this many bytes out, or Free of a format,
	maxEntries  = 10_000   // files in an archive
	maxDepth    = 2        // wrappings around a file
	maxWindow   = 128 << 20
)

// unpacking counts what comes out of a wrapping and stops at the limits.
type unpacking struct {
	w    *walker
	r    io.Reader
	name string
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.w.out += int64(n)
	if out := u.w.out; out > maxUnpacked || out > u.w.free && out/maxRatio > u.w.in.done.Load() {
		return n, &evidence.Error{Code: evidence.CodeArchiveBomb, File: u.name,
			Message: fmt.Sprintf("the archive unpacks to more than %d times its size; it is refused", maxRatio)}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.w.damaged(u.name, err)
	}
	return n, err
}

// A meter counts the bytes that are read from the source, from several goroutines at once where it is a trace.
type meter struct {
	src      Source
	done     atomic.Int64
	progress func(done, total int64) // one call at a time

	mu     sync.Mutex
	failed error // the first of the source that is no end of it
}

// errBeforeSource is of an archive that points to where no file has anything.
var errBeforeSource = errors.New("it points before the beginning of the file")

func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errBeforeSource // the archive's fault, not that of where it lies
	}
	n, err := m.src.ReadAt(p, off)
	m.done.Add(int64(n))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.progress != nil {
		m.progress(min(m.done.Load(), m.src.Size), m.src.Size)
	}
	if err != nil && !errors.Is(err, io.EOF) && m.failed == nil {
		m.failed = err
	}
	return n, err
}

// failure is why the source could not be read, which is nobody's damage.
func (m *meter) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// cancellableReader fails as soon as its context has ended.
type cancellableReader struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to be told
	r   io.Reader
}

func (c *cancellableReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
