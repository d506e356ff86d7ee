package worker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"heapdrift/internal/blob"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/index"
)

// An indexCache keeps the indexes of PDBs as blobs. Two workers that make the same one write the same bytes.
type indexCache struct{ blobs blob.Store }

func indexKey(key string) string { return fmt.Sprintf("symbols/index/%d/%s", index.Version, key) }

// Open implements symbols.IndexCache.
func (c indexCache) Open(ctx context.Context, key string) (symbols.Content, error) {
	r, err := c.blobs.Open(ctx, indexKey(key))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("worker: open index: %w", err)
	}
	return r, nil
}

// Put implements symbols.IndexCache.
func (c indexCache) Put(ctx context.Context, key string, write func(io.Writer) error) error {
	r, pipe := io.Pipe()
	go func() { pipe.CloseWithError(write(pipe)) }()
	_, err := c.blobs.Put(ctx, indexKey(key), r)
	_ = r.CloseWithError(io.ErrClosedPipe) // ends the writer where the store gave up
	if err != nil {
		return fmt.Errorf("worker: keep index: %w", err)
	}
	return nil
}
