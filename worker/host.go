package worker

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
)

// A host has the files of a job's task and keeps what it makes as blobs.
type host struct {
	worker *Worker
	job    *queue.Job
	open   func(ctx context.Context, file int) (blob.Content, error)

	table    store.AllocationTable
	captures []store.StoredCapture
	names    string // key of their blob

	report    *analysis.Report
	reportKey string // of its blob
}

// Open implements task.Host.
func (h *host) Open(ctx context.Context, file int) (symbols.Content, error) { return h.open(ctx, file) }

// Library implements task.Host.
func (h *host) Library() symbols.Library {
	return &teamLibrary{store: h.worker.Store, blobs: h.worker.Blobs, path: h.worker.Symbols, run: h.job.RunID,
		searched: h.worker.Searched}
}

// Indexes implements task.Host.
func (h *host) Indexes() symbols.IndexCache { return indexCache{h.worker.Blobs} }

// StoreTable implements task.Host.
func (h *host) StoreTable(ctx context.Context, sites int, write func(io.Writer) error) error {
	digest, err := h.worker.put(ctx, write)
	h.table = store.AllocationTable{Key: blob.ContentKey(digest.SHA256), Bytes: digest.Bytes, Sites: sites}
	return err
}

// StoreCapture implements task.Host.
func (h *host) StoreCapture(ctx context.Context, c *capture.Capture, write func(io.Writer) error) error {
	digest, err := h.worker.put(ctx, write)
	stored := store.StoredCapture{Capture: c, ArtifactKey: blob.ContentKey(digest.SHA256), Bytes: digest.Bytes}
	if c.Trace != nil { // a capture with a table is one of a trace
		stored.Table = h.table
	}
	h.captures = append(h.captures, stored)
	return err
}

// StoreNames implements task.Host.
func (h *host) StoreNames(ctx context.Context, write func(io.Writer) error) error {
	digest, err := h.worker.put(ctx, write)
	h.names = blob.ContentKey(digest.SHA256)
	return err
}

// Progress implements task.Host.
func (h *host) Progress(percent int, stage string) { h.job.Progress(percent, stage) }
