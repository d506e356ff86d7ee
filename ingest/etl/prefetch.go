package etl

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// A prefetcher loads the buffers of a trace in their order, some of them ahead of time and in parallel.
type prefetcher struct {
	refs   []ref
	ready  []chan *block // ready[i % len] passes on buffer i
	tokens chan struct{} // one per buffer that was begun and not taken
	begun  atomic.Int64
	taken  int
	free   sync.Pool
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// maxWorkers bounds how many buffers are decoded at once: the merge behind them is one thread.
const maxWorkers = 4

func newPrefetcher(ctx context.Context, t *Trace, keep KindSet, prepare preparer) *prefetcher {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	if t.workers > 0 {
		workers = min(t.workers, maxWorkers)
	}
	a := &prefetcher{refs: t.refs, ready: make([]chan *block, 2*workers+2), tokens: make(chan struct{}, 2*workers+2)}
	a.free.New = func() any { return new(block) }
	for i := range a.ready {
		a.ready[i] = make(chan *block, 1)
	}
	ctx, a.stop = context.WithCancel(ctx)
	for i := range workers {
		rd := &reader{sources: t.sources, decoders: t.decoders, keep: keep, worker: uint8(i)}
		if prepare.lean || prepare.stacks.kinds != 0 {
			own := prepare
			rd.prepare = &own
		}
		a.done.Go(func() { a.work(ctx, rd) })
	}
	return a
}

// work loads one buffer after the other until there are none or the pass ends.
func (a *prefetcher) work(ctx context.Context, rd *reader) {
	for {
		select {
		case <-ctx.Done():
			return
		case a.tokens <- struct{}{}:
		}
		i := int(a.begun.Add(1)) - 1
		if i >= len(a.refs) {
			return
		}
		b := a.free.Get().(*block)
		rd.load(b, &a.refs[i])
		a.ready[i%len(a.ready)] <- b // empty: buffer i-len was taken before a token for i was to be had
	}
}

// take returns the next buffer, which must be there.
func (a *prefetcher) take(ctx context.Context) (*block, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case b := <-a.ready[a.taken%len(a.ready)]:
		a.taken++
		<-a.tokens
		return b, b.err
	}
}

// recycle takes a block back whose events were all delivered.
func (a *prefetcher) recycle(b *block) { a.free.Put(b) }

// close ends the workers.
func (a *prefetcher) close() {
	a.stop()
	a.done.Wait()
}
