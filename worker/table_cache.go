package worker

import (
	"context"
	"io"
	"slices"
	"sync"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// maxOpenTables is how many tables stay open while nobody asks: each holds a file, and the sites of its run.
const maxOpenTables = 4

// A tableKey says whose sites, of which of its reports.
type tableKey struct {
	run    int64
	report string
}

// An openTable is the allocation table of a run, and what its report's sites have in it.
type openTable struct {
	key   tableKey
	table *allocations.Table
	blob  io.Closer
	head  *analysis.Report
	sites analysis.TraceSites

	users int  // who are inside
	gone  bool // the last of them closes it
}

// A tableCache keeps a few tables open, those used last.
type tableCache struct {
	mu      sync.Mutex
	tables  []*openTable // the last used one last
	loading map[tableKey]chan struct{}
}

// keep keeps so many bytes of columns of the table that was used last, and lets go of those of others.
func (c *tableCache) keep(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, t := range c.tables {
		if i < len(c.tables)-1 {
			t.table.KeepColumns(0)
		} else {
			t.table.KeepColumns(bytes)
		}
	}
}

// enter returns an open table, or lets load open it; other callers for the same table wait meanwhile. leave must be
// called after.
func (c *tableCache) enter(ctx context.Context, key tableKey, load func() (*openTable, error)) (*openTable, error) {
	for {
		t, wait := c.find(key)
		if t != nil {
			return t, nil
		}
		if wait == nil {
			break
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer c.loaded(key)
	t, err := load()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.users++
	c.tables = append(c.tables, t)
	c.evict()
	return t, nil
}

// loaded lets those who wait for a table look again.
func (c *tableCache) loaded(key tableKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.loading[key])
	delete(c.loading, key)
}

// find returns a table that is open, or what to wait for while another opens it. Where it returns neither, the caller
// is the one to open it.
func (c *tableCache) find(key tableKey) (*openTable, chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, t := range c.tables {
		if t.key == key {
			c.tables = append(slices.Delete(c.tables, i, i+1), t)
			t.users++
			return t, nil
		}
	}
	if wait := c.loading[key]; wait != nil {
		return nil, wait
	}
	if c.loading == nil {
		c.loading = map[tableKey]chan struct{}{}
	}
	c.loading[key] = make(chan struct{})
	return nil, nil
}

// evict takes the tables out that were not used for longest.
func (c *tableCache) evict() {
	for len(c.tables) > maxOpenTables {
		t := c.tables[0]
		c.tables = slices.Delete(c.tables, 0, 1)
		if t.gone = true; t.users == 0 {
			_ = t.blob.Close() // read only
		}
	}
}

// leave ends the use of a table.
func (c *tableCache) leave(t *openTable) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.users--; t.users == 0 && t.gone {
		_ = t.blob.Close() // read only
	}
}

// Close closes the tables that nobody uses; the others close with their use.
func (w *WindowAnswers) Close() error {
	w.tables.mu.Lock()
	defer w.tables.mu.Unlock()
	var err error
	for _, t := range w.tables.tables {
		if t.gone = true; t.users == 0 {
			err = t.blob.Close()
		}
	}
	w.tables.tables = nil
	return err
}
