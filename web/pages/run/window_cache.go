package run

import (
	"context"
	"slices"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// mostKept is how many windows are kept: people sort and page the one they look at.
const mostKept = 4

// A windowKey names the numbers of a window. report changes with each analysis.
type windowKey struct {
	run    int64
	report string
	window capture.Window
}

// A windowCache keeps the windows that were asked for last.
type windowCache struct {
	mu   sync.Mutex
	last []keptWindow // the newest at the end
}

type keptWindow struct {
	key   windowKey
	found *analysis.WindowNumbers
}

// get returns a window that is kept, or asks for it. Nobody may change what it returns.
func (c *windowCache) get(ctx context.Context, key windowKey,
	ask func(context.Context) (*analysis.WindowNumbers, error)) (*analysis.WindowNumbers, error) {
	if found := c.take(key); found != nil {
		return found, nil
	}
	found, err := ask(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = slices.DeleteFunc(c.last, func(k keptWindow) bool { return k.key == key }) // another request asked at the same time
	c.last = append(c.last, keptWindow{key, found})
	if len(c.last) > mostKept {
		c.last = slices.Delete(c.last, 0, 1)
	}
	return found, nil
}

// take returns a window that is kept and makes it the newest, or nil.
func (c *windowCache) take(key windowKey) *analysis.WindowNumbers {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.last, func(k keptWindow) bool { return k.key == key })
	if at < 0 {
		return nil
	}
	kept := c.last[at]
	c.last = append(slices.Delete(c.last, at, at+1), kept)
	return kept.found
}
