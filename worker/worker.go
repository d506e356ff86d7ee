// Package worker is the pipeline. In come jobs of package queue; out go captures, reports, findings and symbol indexes,
// which the handlers write to the store and the blob store. Each kind of job has one handler in one file. The error of
// a handler is a *queue.Error with a stable code, which says whether another attempt is of use, or any other error,
// which is tried again.
package worker

import (
	"context"
	"fmt"
	"io"

	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// A Worker has a handler for each kind of job.
type Worker struct {
	Store *store.Store
	Blobs blob.Store
	// Symbols is searched for symbols that the team store does not have; nil for no search.
	Symbols symbols.Library
	// Searched is called with every place that was asked for a symbol file, and its result; nil for no call.
	Searched func(place, result string)
	// Sandbox runs the tasks that read untrusted files in child processes; nil runs them in this process.
	Sandbox *sandbox.Runner
}

// Handlers maps each kind of job to its handler.
func (w *Worker) Handlers() map[string]queue.Handler {
	return map[string]queue.Handler{store.JobRead: w.read, store.JobSymbolise: w.symbolise, store.JobAnalyse: w.analyse}
}

// put stores what write writes under the digest of its content.
func (w *Worker) put(ctx context.Context, write func(io.Writer) error) (blob.Digest, error) {
	r, pipe := io.Pipe()
	go func() { pipe.CloseWithError(write(pipe)) }()
	digest, err := blob.PutContent(ctx, w.Blobs, r)
	_ = r.CloseWithError(io.ErrClosedPipe) // ends the writer where the store gave up
	if err != nil {
		return digest, fmt.Errorf("worker: store artifact: %w", err)
	}
	return digest, nil
}
