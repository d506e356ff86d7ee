package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
)

const (
	// blockBytes is the least that a request fetches: dumps and PDBs are read in pages of some KiB, in no order.
	blockBytes = 1 << 20
	// maxRunBytes is the most that one fetches. Who reads on and on gets there by doubling; who asks for as much
	// gets it without a cache between.
	maxRunBytes = 8 * blockBytes
	// cacheBytes is how much of a blob a Reader keeps.
	cacheBytes = 16 * blockBytes
)

// A blockReader is a Reader that fetches runs of whole blocks and keeps the last ones used.
type blockReader struct {
	ctx   context.Context //nolint:containedctx // of Open, ended by Close
	stop  context.CancelCauseFunc
	size  int64
	fetch func(ctx context.Context, p []byte, off int64) error // fills p

	mu     sync.Mutex
	runs   []*run // the last used one last
	cached int64  // bytes of runs
	next   int64  // where the last fetched run ends
	length int64  // of that run
}

// A run is some blocks of a blob, one after another.
type run struct {
	off, length int64
	ready       chan struct{} // closed when data or err is there
	data        []byte
	err         error
}

func newBlockReader(ctx context.Context, size int64,
	fetch func(ctx context.Context, p []byte, off int64) error) *blockReader {
	r := &blockReader{size: size, fetch: fetch}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	return r
}

func (r *blockReader) Size() int64 { return r.size }

// Close also ends reads that are under way.
func (r *blockReader) Close() error {
	r.stop(fs.ErrClosed)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs, r.cached = nil, 0
	return nil
}

func (r *blockReader) ReadAt(p []byte, off int64) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx) //nolint:wrapcheck // the caller's own, or fs.ErrClosed
	}
	if off < 0 {
		return 0, errors.New("blob: read at a negative offset")
	}
	var end error
	if left := max(r.size-off, 0); int64(len(p)) > left {
		p, end = p[:left], io.EOF
	}
	if len(p) >= maxRunBytes {
		if err := r.fetch(r.ctx, p, off); err != nil {
			return 0, err
		}
		return len(p), end
	}
	for n := 0; n < len(p); {
		at := off + int64(n)
		run := r.load(at)
		<-run.ready
		if run.err != nil {
			return n, run.err
		}
		n += copy(p[n:], run.data[at-run.off:])
	}
	return len(p), end
}

// load returns the run that holds the byte at off; it may still be on its way.
func (r *blockReader) load(off int64) *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, known := range r.runs {
		if known.off <= off && off < known.off+known.length {
			r.runs = append(slices.Delete(r.runs, i, i+1), known)
			return known
		}
	}
	start, length := off-off%blockBytes, int64(blockBytes)
	if start == r.next && start > 0 {
		length = min(2*r.length, maxRunBytes)
	}
	fetched := &run{off: start, length: min(length, r.size-start), ready: make(chan struct{})}
	r.next, r.length = start+length, length
	r.runs = append(r.runs, fetched)
	for r.cached += fetched.length; r.cached > cacheBytes; {
		r.cached -= r.runs[0].length
		r.runs = slices.Delete(r.runs, 0, 1)
	}
	go r.fill(fetched)
	return fetched
}

func (r *blockReader) fill(f *run) {
	defer close(f.ready)
	f.data = make([]byte, f.length)
	if f.err = r.fetch(r.ctx, f.data, f.off); f.err == nil {
		return
	}
	r.mu.Lock() // the next one to need it tries again
	defer r.mu.Unlock()
	if i := slices.Index(r.runs, f); i >= 0 {
		r.cached -= f.length
		r.runs = slices.Delete(r.runs, i, i+1)
	}
}
