package worker

import (
	"context"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/symbols"
)

// symbolise names the return addresses of a run's captures by all symbols that there are now. Nothing is read again
// but the captures.
func (w *Worker) symbolise(ctx context.Context, job *queue.Job) error {
	naming, err := w.Store.BeginNaming(ctx, job.RunID)
	if err != nil {
		return err
	}
	captures := make([]*capture.Capture, len(naming.Captures))
	for i, ref := range naming.Captures {
		job.Progress(30*i/len(captures), "loading captures")
		if captures[i], err = loadCapture(ctx, w.Blobs, ref); err != nil {
			return err
		}
	}
	job.Progress(30, "naming frames")
	resolver := symbols.Resolver{Library: &teamLibrary{store: w.Store, blobs: w.Blobs, path: w.Symbols}, Indexes: indexCache{w.Blobs}}
	names, err := resolver.Resolve(ctx, captures, func(percent int, stage string) { job.Progress(30+60*percent/100, stage) })
	if err != nil {
		return err
	}
	job.Progress(90, "storing names")
	digest, err := w.put(ctx, func(out io.Writer) error { return names.Write(out) })
	if err != nil {
		return err
	}
	return w.Store.SaveNames(ctx, job.Lease, naming, blob.ContentKey(digest.SHA256))
}

// loadNames reads the names that a search has found; nil before the first.
func loadNames(ctx context.Context, blobs blob.Store, key string) (*capture.Names, error) {
	if key == "" {
		return nil, nil
	}
	r, err := blobs.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("worker: names: %w", err)
	}
	defer func() { _ = r.Close() }()
	names, err := capture.ReadNames(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return nil, fmt.Errorf("worker: names: %w", err)
	}
	return names, nil
}
