package query

import (
	"context"
	"slices"
	"sync"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/memory"
)

// An IndexCache keeps the Indexes of the runs that were asked for last. It is safe for concurrent use.
type IndexCache struct {
	Blobs  blob.Store
	Budget *memory.Budget // memory for reading reports; nil for no limit

	mu   sync.Mutex
	kept []*keptIndex // the last used one last
}

// A keptIndex is an Index that is there, or on its way: done is closed then.
type keptIndex struct {
	key   string
	done  chan struct{}
	index *Index
	err   error
}

// keptSites is how many sites the kept Indexes have in all, but for the last used one: some 200 MB.
const keptSites = 200_000

// Index returns the Index of the report stored under a key. The first caller reads the report, and others wait for
// that; it is read to its end even if nobody waits any more.
func (l *IndexCache) Index(ctx context.Context, key string) (*Index, error) {
	k, isFirst := l.find(key)
	if isFirst {
		go l.read(context.WithoutCancel(ctx), k)
	}
	select {
	case <-k.done:
		return k.index, k.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Peek returns the Index if it is in the cache; else nil, and starts to read it for later callers.
func (l *IndexCache) Peek(ctx context.Context, key string) *Index {
	k, isFirst := l.find(key)
	if isFirst {
		go l.read(context.WithoutCancel(ctx), k)
	}
	select {
	case <-k.done:
		return k.index
	default:
		return nil
	}
}

// find returns what is kept under a key and makes it the last used one.
func (l *IndexCache) find(key string) (k *keptIndex, isFirst bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.kept, func(k *keptIndex) bool { return k.key == key })
	if at < 0 {
		k = &keptIndex{key: key, done: make(chan struct{})}
		l.kept = append(l.kept, k)
		return k, true
	}
	k = l.kept[at]
	l.kept = append(slices.Delete(l.kept, at, at+1), k)
	return k, false
}

// read makes an Index, and lets go of others where there are too many.
func (l *IndexCache) read(ctx context.Context, k *keptIndex) {
	var report *analysis.Report
	err := l.Budget.Do(ctx, func(ctx context.Context) (err error) {
		report, err = ReadReport(ctx, l.Blobs, k.key)
		return err
	})
	if err == nil {
		k.index = New(report)
	}
	k.err = err
	close(k.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.kept = slices.DeleteFunc(l.kept, func(other *keptIndex) bool { return other == k })
		return
	}
	sites := 0
	for i, other := range slices.Backward(l.kept) {
		if sites += other.sites(); sites > keptSites && i < len(l.kept)-1 {
			l.kept = slices.Delete(l.kept, 0, i+1)
			return
		}
	}
}

// sites is how many an Index has, 0 while it is on its way.
func (k *keptIndex) sites() int {
	select {
	case <-k.done:
		if k.index != nil {
			return len(k.index.report.Sites)
		}
	default:
	}
	return 0
}
